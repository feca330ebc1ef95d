#pragma once
// Which keys there are, and what each takes.
#include <span>
#include <string_view>

namespace cpplan::config {

/// choices: one of them, or a list.
enum class Kind {
  integer,
  real,
  boolean,
  text,
  choice,
  choice_or_boolean,
  choices,
  list,
  mapping,
  any
};
enum class Null { unsets, refused };

struct KeyInfo {
  std::string_view name;
  Kind kind = Kind::any;
  Null null = Null::unsets;
  std::string_view choices = {};  // "drop|truncate|raise"; of a text: the usual ones
};

/// axolotl's top-level keys, those of its plug-ins included; sorted.
std::span<const KeyInfo> axolotl_keys();
/// Below fsdp_config, and of an entry of datasets, test_datasets and pretraining_dataset.
std::span<const KeyInfo> fsdp_keys();
std::span<const KeyInfo> dataset_keys();

/// What no framework's config can say: our keys at the top level, and the sections below cpplan:.
std::span<const KeyInfo> own_top_level_keys();
std::span<const KeyInfo> cpplan_sections();
std::span<const KeyInfo> model_keys();
std::span<const KeyInfo> rope_keys();  // of model_keys' rope_scaling and rope_parameters
std::span<const KeyInfo> cluster_keys();
std::span<const KeyInfo> run_keys();
std::span<const KeyInfo> launch_keys();

/// A key of another framework, and what it is called here.
struct ForeignKey {
  std::string_view name;       // with underscores
  std::string_view framework;  // "Megatron"
  std::string_view here;       // "tensor_parallel_size"
};
const ForeignKey* find_foreign_key(std::string_view name);

const KeyInfo* find_key(std::span<const KeyInfo> keys, std::string_view name);

}  // namespace cpplan::config
