#include "config/check_root.hpp"

#include <fmt/format.h>

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

}  // namespace

bool check_root(const Document& document, const std::string& file, Role role,
                Diagnostics& findings) {
  const Value& root = document.root;
  const bool empty = root.node == nullptr || root.node->is_null() ||
                     (root.node->is_mapping() && root.node->members.empty());
  if (empty && role == Role::whole)
    findings.push_back(finding("CP009", diag::Span{file},
                               "the config is empty (base_model, learning_rate and datasets are "
                               "missing). add them as key: value lines"));
  if (empty) return role == Role::part;
  if (root.node->is_sequence())
    findings.push_back(finding("CP010", root.span,
                               "the top level is a list (a config is a mapping). write key: value "
                               "lines without `- `"));
  if (root.node->kind == NodeKind::scalar) report_scalar_root(root, findings);
  return root.node->is_mapping();
}

void report_other_file(const Node& root, Diagnostics& findings) {
  findings.push_back(finding(
      "CP118", root.members.front().key_span,
      "this is no training config (none of base_model, datasets, sequence_len, micro_batch_size "
      "and learning_rate stands in it, nor Megatron's num_layers and seq_length). give the file "
      "that holds them"));
}

}  // namespace cpplan::config
