#include "config/load.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/check_keys.hpp"
#include "config/checks.hpp"
#include "config/document.hpp"
#include "config/read_axolotl.hpp"
#include "config/schema.hpp"
#include "config/source_checks.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostics;
using diag::finding;

void report_scalar_root(const Value& root, Diagnostics& findings) {
  const std::string& text = root.node->text;
  const auto colon = text.find(':');
  const bool glued = root.node->style == ScalarStyle::plain && colon != text.npos && colon > 0 &&
                     colon + 1 < text.size() && text.find('\n') == text.npos;
  findings.push_back(finding(
      "CP010", root.span,
      glued ? fmt::format("no space after the colon (so the whole line is one text). write {}: {}",
                          text.substr(0, colon), text.substr(colon + 1))
            : "the top level is a single value (a config is a mapping). write key: value lines"));
}

/// True where the root is a mapping with members.
bool check_root(const Document& document, const std::string& file, bool has_overrides,
                Diagnostics& findings) {
  const Value& root = document.root;
  const bool empty = root.node == nullptr || root.node->is_null() ||
                     (root.node->is_mapping() && root.node->members.empty());
  if (empty && !has_overrides)
    findings.push_back(finding("CP009", diag::Span{file},
                               "the config is empty (base_model, learning_rate and datasets are "
                               "missing). add them as key: value lines"));
  if (empty) return has_overrides;
  if (root.node->is_sequence())
    findings.push_back(finding("CP010", root.span,
                               "the top level is a list (a config is a mapping). write key: value "
                               "lines without `- `"));
  if (root.node->kind == NodeKind::scalar) report_scalar_root(root, findings);
  return root.node->is_mapping();
}

/// Where no key is axolotl's the file is something else: one finding says so, not one a key.
bool is_training_config(const Node& root) {
  return std::any_of(root.members.begin(), root.members.end(), [](const Member& m) {
    return m.key == "base_model" || m.key == "micro_batch_size" || m.key == "learning_rate" ||
           m.key == "sequence_len" || m.key == "datasets" || m.key == "pretraining_dataset" ||
           m.key == "gradient_accumulation_steps" || m.key == "cpplan" ||
           m.key == "tensor_parallel_size" || m.key == "context_parallel_size";
  });
}

bool looks_like_megatron(const Node& root) {
  for (const std::string_view key : {"MODEL_ARGS", "language_model", "model_parallel"})
    if (root.find(key) != nullptr) return true;
  return std::count_if(root.members.begin(), root.members.end(),
                       [](const Member& m) { return find_foreign_key(m.key) != nullptr; }) >= 3;
}

void report_other_file(const Member& first, const Node& root, Diagnostics& findings) {
  findings.push_back(finding(
      "CP118", first.key_span,
      looks_like_megatron(root)
          ? "this is a Megatron config (only axolotl's keys are read so far). write base_model, "
            "datasets, sequence_len, micro_batch_size and learning_rate"
          : "this is no training config (none of base_model, datasets, sequence_len, "
            "micro_batch_size and learning_rate stands in it). give the file that holds them"));
}

void read_mapping(const Document& document, LoadedConfig& loaded) {
  const Node& root = *document.root.node;
  loaded.config = read_axolotl(document, loaded.source.name());
  if (!root.members.empty() && !is_training_config(root)) {
    if (looks_like_megatron(root)) loaded.config->dialect = Dialect::megatron;
    return report_other_file(root.members.front(), root, loaded.diagnostics);
  }
  check_axolotl_keys(document, loaded.diagnostics);
  check_required(document, *loaded.config, loaded.diagnostics);
  check_deprecated(document, loaded.diagnostics);
  check_conflicts(document, *loaded.config, loaded.diagnostics);
  check_batch(document, *loaded.config, loaded.diagnostics);
}

}  // namespace

LoadedConfig load_config_text(std::string name, std::string text,
                              std::span<const Override> overrides) {
  LoadedConfig loaded;
  loaded.source = diag::SourceFile(std::move(name), without_byte_order_mark(std::move(text)));
  if (!check_encoding(loaded.source, loaded.diagnostics)) return loaded;
  Document document = parse_document(loaded.source, loaded.diagnostics);
  const bool unreadable = diag::summarize(loaded.diagnostics).errors > 0 && !document.root.node;
  if (unreadable) {
    diag::sort_by_place(loaded.diagnostics);
    return loaded;
  }
  if (check_root(document, loaded.source.name(), !overrides.empty(), loaded.diagnostics)) {
    apply_overrides(document, overrides, loaded.diagnostics);
    if (document.root.node != nullptr) read_mapping(document, loaded);
  }
  diag::sort_by_place(loaded.diagnostics);
  return loaded;
}

Result<LoadedConfig> load_config(const std::string& path, std::span<const Override> overrides) {
  Result<std::string> text = path == "-" ? read_standard_input() : read_file(path);
  if (!text) return tl::unexpected(text.error());
  return load_config_text(path == "-" ? "<stdin>" : path, std::move(*text), overrides);
}

}  // namespace cpplan::config
