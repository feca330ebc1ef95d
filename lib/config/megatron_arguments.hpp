#pragma once
// The arguments of a Megatron config in one list, whichever of the three forms it is written in.
#include <string>
#include <unordered_map>
#include <vector>

#include "config/megatron_schema.hpp"
#include "config/section.hpp"

namespace cpplan::config {

/// The form of a config that is Megatron's. Contract: the root is a mapping.
MegatronForm megatron_form(const Node& root);

/// One argument of the file.
struct MegatronArgument {
  std::string name;  // the attribute: "seq_length"
  std::string key;   // for messages: "--seq-length", "model_parallel.context_parallel_size"
  const Member* member = nullptr;
  MegatronPlace place = MegatronPlace::top;  // where it stands
};

class MegatronArguments {
 public:
  /// `root` outlives the arguments.
  explicit MegatronArguments(const Node& root);

  MegatronForm form() const { return form_; }
  /// In the order of the file.
  const std::vector<MegatronArgument>& all() const { return arguments_; }
  /// The one that Megatron reads: the last of that name in the place where it belongs, else the
  /// last elsewhere. nullptr where there is none.
  const MegatronArgument* find(std::string_view name) const;

  template <class T>
  void read(Setting<T>& setting, std::string_view name) const {
    if (const MegatronArgument* found = find(name))
      read_setting(setting, *found->member, found->key);
  }
  /// A setting that is on unless the argument `name`, like no_overlap, is given and true.
  void read_inverted(Setting<bool>& setting, std::string_view name) const;
  void read_word(Setting<std::string>& setting, std::string_view name) const;

 private:
  void add(const Node& section, MegatronPlace place, const std::string& prefix);

  MegatronForm form_;
  std::vector<MegatronArgument> arguments_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

/// Whether an argument that stands at `place` is read there.
bool is_read_at(const MegatronKey& key, MegatronPlace place, MegatronForm form);

/// Where an override of `key` goes: "seq_length" to "MODEL_ARGS.--seq-length" or to its section. A
/// key that the root has, that has a dot or that is not Megatron's stays as it is.
std::string megatron_path(const Node& root, const std::string& key);

}  // namespace cpplan::config
