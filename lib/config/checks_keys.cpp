#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/text.hpp"
#include "config/checks.hpp"
#include "config/coerce.hpp"
#include "config/schema.hpp"
#include "config/yaml11.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostics;
using diag::finding;

struct Renamed {
  std::string_view old_name, present;
};

constexpr std::array renamed = {
    Renamed{"dataset_processes", "dataset_num_proc"},
    Renamed{"evaluation_strategy", "eval_strategy"},
    Renamed{"fsdp", "fsdp_config"},
    Renamed{"pretrain_multipack_buffer_size", "streaming_multipack_buffer_size"},
    Renamed{"sequence_parallel_degree", "context_parallel_size"},
};

/// Booleans that attn_implementation has replaced.
constexpr std::array attention_switches = {
    Renamed{"eager_attention", "eager"},
    Renamed{"flash_attention", "flash_attention_2"},
    Renamed{"flex_attention", "flex_attention"},
    Renamed{"sage_attention", "sage"},
    Renamed{"sdp_attention", "sdpa"},
    Renamed{"xformers_attention", "xformers"},
};

/// Short names of attn_implementation that axolotl refuses.
constexpr std::array attention_short_names = {Renamed{"flash", "flash_attention_2"},
                                              Renamed{"flex", "flex_attention"},
                                              Renamed{"sdp", "sdpa"}};

constexpr std::array removed = {
    Renamed{"max_packed_sequence_len", "write sample_packing: true and sequence_len"},
    Renamed{"rope_scaling", "write it below overrides_of_model_config"},
    Renamed{"s2_attention", "remove it, or use context_parallel_size for long sequences"},
};

bool is_true(const Member* member) {
  return member != nullptr && read_boolean("", *member->value.node).value.value_or(false);
}

std::string text_of(const Member* member) {
  const bool scalar = member != nullptr && member->value.node->kind == NodeKind::scalar;
  return scalar ? member->value.node->text : std::string();
}

void check_renamed(const Node& root, Diagnostics& findings) {
  for (const Renamed& key : renamed)
    if (const Member* member = find_given(root, key.old_name))
      findings.push_back(
          finding("CP113", member->key_span,
                  fmt::format("{} is an old name (axolotl still reads it and warns). "
                              "write {}",
                              key.old_name, key.present),
                  {.label = fmt::format("now {}", key.present)}));
}

void check_removed(const Node& root, Diagnostics& findings) {
  for (const Renamed& key : removed)
    if (const Member* member = find_given(root, key.old_name))
      findings.push_back(
          finding("CP114", member->key_span,
                  fmt::format("{} is gone (axolotl stops at it). {}", key.old_name, key.present)));
}

/// Members of fsdp_config under a name that axolotl still translates.
std::vector<const Member*> prefixed_members(const Node& fsdp_config) {
  std::vector<const Member*> found;
  for (const Member& member : fsdp_config.members)
    if (member.key.starts_with("fsdp_") && find_key(fsdp_keys(), member.key.substr(5)))
      found.push_back(&member);
  return found;
}

void check_fsdp_spelling(const Node& root, Diagnostics& findings) {
  const Member* section = root.find("fsdp_config");
  if (section == nullptr) return;
  const Node& members = *section->value.node;
  for (const std::string_view key : {"version", "fsdp_version"})
    if (const Member* member = members.find(key))
      findings.push_back(
          finding("CP113", member->key_span,
                  fmt::format("fsdp_config.{} is an old place (axolotl moves it and warns). write "
                              "fsdp_version at the top level",
                              key)));
  const std::vector<const Member*> prefixed = prefixed_members(members);
  if (prefixed.empty()) return;
  const std::string others =
      prefixed.size() > 1 ? fmt::format(" and {} more begin", prefixed.size() - 1) : " begins";
  findings.push_back(finding(
      "CP113", prefixed[0]->key_span,
      fmt::format("fsdp_config.{}{} with fsdp_ (an old spelling that axolotl translates and warns "
                  "about). write {}",
                  prefixed[0]->key, others, prefixed[0]->key.substr(5)),
      {.label = "drop the prefix fsdp_"}));
}

void check_attention(const Node& root, Diagnostics& findings) {
  const Member* implementation = find_given(root, "attn_implementation");
  for (const Renamed& key : attention_switches) {
    const Member* member = find_given(root, key.old_name);
    if (!is_true(member)) continue;
    if (implementation != nullptr)
      findings.push_back(
          finding("CP115", member->key_span,
                  fmt::format("{} and attn_implementation exclude each other. remove {}",
                              member->key, member->key),
                  {.related = {{"the attention is chosen here", implementation->key_span}}}));
    else
      findings.push_back(finding("CP113", member->key_span,
                                 fmt::format("{} is an old switch (axolotl still reads it). write "
                                             "attn_implementation: {}",
                                             member->key, key.present)));
  }
  for (const Renamed& name : attention_short_names)
    if (text_of(implementation) == name.old_name)
      findings.push_back(
          finding("CP112", implementation->value.span,
                  fmt::format("attn_implementation \"{}\" is a short name that axolotl "
                              "refuses. write {}",
                              name.old_name, name.present)));
}

void check_dataset_types(const Node& root, Diagnostics& findings) {
  const Member* datasets = find_given(root, "datasets");
  if (datasets == nullptr) return;
  for (const Value& entry : datasets->value.node->elements) {
    if (const Member* type = entry.node->find("type"); text_of(type).starts_with("sharegpt"))
      findings.push_back(finding("CP114", type->value.span,
                                 "dataset type \"sharegpt\" is gone (axolotl stops at it). write "
                                 "type: chat_template"));
  }
}

void check_offload(const Node& root, Diagnostics& findings) {
  const Member* member = find_given(root, "gradient_checkpointing");
  if (!text_of(member).starts_with("offload")) return;
  findings.push_back(
      finding("CP113", member->value.span,
              fmt::format("gradient_checkpointing: {} is an old spelling. write "
                          "gradient_checkpointing: true and activation_offloading: {}",
                          text_of(member), text_of(member) == "offload_disk" ? "disk" : "true")));
}

void check_fsdp_and_deepspeed(const Node& root, Diagnostics& findings) {
  const Member* deepspeed = find_given(root, "deepspeed");
  const Member* fsdp = find_given(root, "fsdp");
  if (deepspeed == nullptr || fsdp == nullptr) return;
  findings.push_back(
      finding("CP115", deepspeed->key_span,
              "deepspeed and fsdp exclude each other (both shard the model). keep one "
              "of them",
              {.related = {{"fsdp is set here", fsdp->key_span}}}));
}

/// sequence_parallel_degree fills context_parallel_size only where that is not set.
void check_context_parallel_names(const ParallelSettings& parallel, Diagnostics& findings) {
  const auto& present = parallel.context_parallel_size;
  const auto& old = parallel.sequence_parallel_degree;
  if (present.value_or(0) == 0 || old.value_or(0) == 0 || *present == *old) return;
  findings.push_back(
      finding("CP116", old.span,
              fmt::format("sequence_parallel_degree {} is ignored (context_parallel_size {} wins). "
                          "remove it",
                          *old, *present),
              {.related = {{"this one is used", present.span}}}));
}

void check_world_size(const Setting<Index>& world_size, Diagnostics& findings) {
  if (!world_size.given()) return;
  findings.push_back(finding(
      "CP116", world_size.span,
      fmt::format("world_size {} in the file is ignored (axolotl overwrites it with WORLD_SIZE "
                  "of the environment). remove it, and give --world-size {}",
                  *world_size, *world_size)));
}

/// Upstream's check of deepspeed's JSON compares the raw value with 1.
void check_quoted_degree(const Node& root, Diagnostics& findings) {
  const Member* degree = find_given(root, "tensor_parallel_size");
  if (degree == nullptr || find_given(root, "deepspeed") == nullptr) return;
  const Node& node = *degree->value.node;
  if (node.kind != NodeKind::scalar || resolve(node).type != ScalarType::text) return;
  if (!read_integer("", node).value) return;
  findings.push_back(
      finding("CP122", degree->value.span,
              fmt::format("tensor_parallel_size \"{}\" is a quoted number (with "
                          "deepspeed axolotl compares the text with 1 and stops with "
                          "a TypeError). remove the quotes",
                          node.text)));
}

void check_shards(const BatchSettings& batch, Diagnostics& findings) {
  const bool has_number = batch.dataset_shard_num.given(),
             has_index = batch.dataset_shard_idx.given();
  if (has_number == has_index) return;
  const auto& only = has_number ? batch.dataset_shard_num : batch.dataset_shard_idx;
  const std::string_view missing = has_number ? "dataset_shard_idx" : "dataset_shard_num";
  findings.push_back(
      finding("CP116", only.key_span,
              fmt::format("{} alone has no effect ({} is missing, and sharding is not "
                          "applied). add {}: {}",
                          only.key, missing, missing, has_number ? 0 : 2)));
}

void check_streaming(const Node& root, Diagnostics& findings) {
  const Member* dataset = find_given(root, "pretraining_dataset");
  if (dataset == nullptr || is_true(find_given(root, "streaming"))) return;
  findings.push_back(
      finding("CP113", dataset->key_span,
              "pretraining_dataset without streaming (axolotl streams it all the same, "
              "and warns). add streaming: true"));
}

bool has_data(const Node& root) {
  for (const std::string_view key : {"datasets", "pretraining_dataset"}) {
    const Member* member = find_given(root, key);
    if (member == nullptr) continue;
    // Another kind of value has a finding of its own.
    if (!member->value.node->is_sequence() || !member->value.node->elements.empty()) return true;
  }
  return false;
}

}  // namespace

void check_required(const Document& document, const TrainingConfig& config, Diagnostics& findings) {
  const Node& root = *document.root.node;
  const auto require = [&](std::string_view key, std::string_view example) {
    if (root.find(key) != nullptr) return;
    findings.push_back(
        finding("CP105", diag::Span{config.file},
                fmt::format("{} is required (the framework has no default). add {}: {}", key, key,
                            example)));
  };
  require("base_model", "NousResearch/Llama-3.2-1B");
  require("learning_rate", "0.0002");
  if (has_data(root)) return;
  const Member* empty = root.find("datasets");
  findings.push_back(
      finding("CP105", empty ? empty->key_span : diag::Span{config.file},
              "datasets is required (there is nothing to train on). add datasets with "
              "a path and a type"));
}

void check_deprecated(const Document& document, Diagnostics& findings) {
  const Node& root = *document.root.node;
  check_renamed(root, findings);
  check_removed(root, findings);
  check_fsdp_spelling(root, findings);
  check_attention(root, findings);
  check_dataset_types(root, findings);
  check_offload(root, findings);
  check_streaming(root, findings);
}

void check_conflicts(const Document& document, const TrainingConfig& config,
                     Diagnostics& findings) {
  const Node& root = *document.root.node;
  check_fsdp_and_deepspeed(root, findings);
  check_context_parallel_names(config.parallel, findings);
  check_world_size(config.parallel.world_size, findings);
  check_quoted_degree(root, findings);
  check_shards(config.batch, findings);
}

}  // namespace cpplan::config
