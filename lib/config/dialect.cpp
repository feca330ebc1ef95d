#include "config/dialect.hpp"

#include <algorithm>
#include <array>

#include "config/megatron_arguments.hpp"
#include "config/schema.hpp"

namespace cpplan::config {
namespace {

/// Keys without which nothing trains; names like `load` and `seed` stand in other files, too.
constexpr std::array axolotl_core = {"base_model",
                                     "micro_batch_size",
                                     "learning_rate",
                                     "sequence_len",
                                     "datasets",
                                     "pretraining_dataset",
                                     "cpplan",
                                     "tensor_parallel_size",
                                     "gradient_accumulation_steps",
                                     "context_parallel_size"};
constexpr std::array megatron_core = {"num_layers",
                                      "hidden_size",
                                      "num_attention_heads",
                                      "seq_length",
                                      "global_batch_size",
                                      "train_iters",
                                      "tensor_model_parallel_size",
                                      "train_samples",
                                      "micro_batch_size",
                                      "pipeline_model_parallel_size"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool axolotl_knows(std::string_view key) {
  return find_key(axolotl_keys(), key) != nullptr;
}

bool is_flat_megatron(const Node& root) {
  std::ptrdiff_t only_megatron = 0, only_axolotl = 0;
  bool has_core = false;
  for (const Member& member : root.members) {
    const std::string name = attribute_name(member.key);
    const bool megatron = find_megatron_key(name) != nullptr, axolotl = axolotl_knows(member.key);
    only_megatron += megatron && !axolotl ? 1 : 0;
    only_axolotl += axolotl && !megatron ? 1 : 0;
    has_core = has_core || contains(megatron_core, name);
  }
  return has_core && only_megatron > only_axolotl;
}

}  // namespace

std::optional<Dialect> detect_dialect(const Node& root) {
  if (root.find("base_model") != nullptr) return Dialect::axolotl;
  if (megatron_form(root) != MegatronForm::flat || is_flat_megatron(root)) return Dialect::megatron;
  const bool trains = std::any_of(root.members.begin(), root.members.end(),
                                  [](const Member& m) { return contains(axolotl_core, m.key); });
  return trains ? std::optional(Dialect::axolotl) : std::nullopt;
}

}  // namespace cpplan::config
