#include "config/load.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "config/check_keys.hpp"
#include "config/check_megatron_keys.hpp"
#include "config/check_root.hpp"
#include "config/checks.hpp"
#include "config/dialect.hpp"
#include "config/document.hpp"
#include "config/megatron_arguments.hpp"
#include "config/overlay.hpp"
#include "config/read_axolotl.hpp"
#include "config/read_megatron.hpp"
#include "config/source_checks.hpp"

namespace cpplan::config {
namespace {

/// The text as a tree; without node where it cannot be read, which is a finding.
Document read_document(const diag::SourceFile& source, diag::Diagnostics& findings) {
  if (!check_encoding(source, findings)) return {};
  check_directives(source, findings);
  return parse_document(source, findings);
}

diag::SourceFile source_of(ConfigText text) {
  return {std::move(text.name), with_line_feeds(without_byte_order_mark(std::move(text.text)))};
}

bool is_unreadable(const Document& document, const diag::Diagnostics& findings) {
  return document.root.node == nullptr && diag::summarize(findings).errors > 0;
}

void read_as_axolotl(const Document& document, LoadedConfig& loaded) {
  loaded.config = read_axolotl(document, loaded.source.name());
  check_axolotl_keys(document, loaded.diagnostics);
  check_required(document, *loaded.config, loaded.diagnostics);
  check_deprecated(document, loaded.diagnostics);
  check_conflicts(document, *loaded.config, loaded.diagnostics);
  check_batch(document, *loaded.config, loaded.diagnostics);
}

void read_as_megatron(const Document& document, LoadedConfig& loaded) {
  loaded.config = read_megatron(document, loaded.source.name());
  check_megatron_keys(document, loaded.diagnostics);
  check_megatron_settings(*loaded.config, loaded.diagnostics);
}

/// Where no key is a training config's the file is something else: one finding says so, not one a
/// key.
void read_mapping(const Document& document, std::optional<Dialect> dialect, LoadedConfig& loaded) {
  const Node& root = *document.root.node;
  if (dialect == Dialect::megatron) return read_as_megatron(document, loaded);
  if (dialect == Dialect::axolotl || root.members.empty()) return read_as_axolotl(document, loaded);
  loaded.config = read_axolotl(document, loaded.source.name());
  report_other_file(root, loaded.diagnostics);
}

/// Puts `over` on top; a tree that is no mapping has a finding and stays out.
void put_on_top(Document& document, const Document& over, const diag::SourceFile& source,
                diag::Diagnostics& findings) {
  if (!check_root(over, source.name(), Role::part, findings) || over.root.node == nullptr) return;
  if (!over.root.node->is_mapping()) return;
  const bool has_base = document.root.node != nullptr && document.root.node->is_mapping();
  document.root.node =
      has_base ? merged(*document.root.node, *over.root.node, document) : over.root.node;
}

/// Overrides with Megatron's names where the file's form has them.
std::vector<Override> placed(std::vector<Override> overrides, const Node* root,
                             std::optional<Dialect> dialect) {
  if (dialect != Dialect::megatron || root == nullptr) return overrides;
  for (Override& override : overrides) override.key = megatron_path(*root, override.key);
  return overrides;
}

std::optional<Dialect> dialect_of(const Document& document, const LoadOptions& options) {
  const Node* root = document.root.node;
  if (options.dialect || root == nullptr || !root->is_mapping()) return options.dialect;
  return detect_dialect(*root);
}

}  // namespace

LoadedConfig load_config_texts(ConfigText text, std::vector<ConfigText> overlays,
                               const LoadOptions& options) {
  LoadedConfig loaded;
  auto& findings = loaded.diagnostics;
  loaded.source = source_of(std::move(text));
  Document document = read_document(loaded.source, findings);
  bool readable = !is_unreadable(document, findings);
  const bool is_whole = overlays.empty() && options.overrides.empty();
  readable = readable && check_root(document, loaded.source.name(),
                                    is_whole ? Role::whole : Role::part, findings);
  std::vector<Document> trees;  // keep the nodes that the merged tree shares
  for (ConfigText& overlay : overlays) {
    const auto& source = loaded.overlays.emplace_back(source_of(std::move(overlay)));
    trees.push_back(read_document(source, findings));
    if (readable) put_on_top(document, trees.back(), source, findings);
  }
  if (readable) {
    apply_overrides(document,
                    placed(options.overrides, document.root.node, dialect_of(document, options)),
                    findings);
    if (document.root.node != nullptr && document.root.node->is_mapping())
      read_mapping(document, dialect_of(document, options), loaded);
  }
  diag::sort_by_place(findings);
  return loaded;
}

LoadedConfig load_config_text(std::string name, std::string text,
                              std::span<const Override> overrides) {
  LoadOptions options;
  options.overrides.assign(overrides.begin(), overrides.end());
  return load_config_texts({std::move(name), std::move(text)}, {}, options);
}

Result<LoadedConfig> load_config(const std::string& path, const LoadOptions& options) {
  Result<std::string> text = path == "-" ? read_standard_input() : read_file(path);
  if (!text) return tl::unexpected(text.error());
  std::vector<ConfigText> overlays;
  for (const std::string& overlay : options.overlays) {
    Result<std::string> content = read_file(overlay);
    if (!content) return tl::unexpected(content.error());
    overlays.push_back({overlay, std::move(*content)});
  }
  return load_config_texts({path == "-" ? "<stdin>" : path, std::move(*text)}, std::move(overlays),
                           options);
}

Result<LoadedConfig> load_config(const std::string& path, std::span<const Override> overrides) {
  LoadOptions options;
  options.overrides.assign(overrides.begin(), overrides.end());
  return load_config(path, options);
}

}  // namespace cpplan::config
