#pragma once
// Megatron's flags and the fields of its config classes: which there are, what each takes and where
// its YAML form keeps it.
#include <span>
#include <string>
#include <string_view>

#include "config/schema.hpp"

namespace cpplan::config {

/// Where the nested form has a key: fields of TransformerConfig below language_model, those of
/// ModelParallelConfig below model_parallel, all else at the top level.
enum class MegatronPlace { top, language_model, model_parallel, anywhere };

struct MegatronKey {
  KeyInfo info;  // the name with underscores, as Python's attribute has it
  MegatronPlace place = MegatronPlace::top;
};

/// Sorted by name.
std::span<const MegatronKey> megatron_keys();

/// `name` with underscores. A flag that switches a known one off (no_x, disable_x) is known.
const MegatronKey* find_megatron_key(std::string_view name);

/// "--seq-length" and "seq-length" as "seq_length".
std::string attribute_name(std::string_view flag);

/// "seq_length" as "--seq-length".
std::string flag_of(std::string_view attribute);

/// Flags that Megatron still parses only to refuse them.
struct RefusedFlag {
  std::string_view name, present;
};
const RefusedFlag* find_refused_flag(std::string_view name);

/// Megatron's name of a setting of axolotl, Hugging Face and others; empty where it has none.
std::string_view megatron_name_of(std::string_view foreign_name);

}  // namespace cpplan::config
