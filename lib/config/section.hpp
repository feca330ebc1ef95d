#pragma once
// From a member of the tree to a Setting: its value where it reads as the setting's type, and its
// place in any case. What does not read has a finding elsewhere.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "config/training_config.hpp"

namespace cpplan::config {

// `key` is what messages call the member. null leaves the setting without a value.
void read_setting(Setting<Index>&, const Member&, std::string key);
void read_setting(Setting<double>&, const Member&, std::string key);
void read_setting(Setting<bool>&, const Member&, std::string key);
void read_setting(Setting<std::string>&, const Member&, std::string key);
/// A list, or as on a command line the words of a text, in brackets or not: "[mlp moe_act]".
void read_setting(Setting<std::vector<Index>>&, const Member&, std::string key);
void read_setting(Setting<std::vector<std::string>>&, const Member&, std::string key);

/// True where something stands there that Python takes as true.
void read_presence(Setting<bool>&, const Member&, std::string key);
/// A scalar as it is written; booleans as true and false.
void read_word(Setting<std::string>&, const Member&, std::string key);

/// One mapping of the file; keys below it read as "prefix.key".
class Section {
 public:
  /// `mapping` may be nullptr: then nothing is given.
  Section(const Node* mapping, std::string prefix)
      : mapping_(mapping), prefix_(std::move(prefix)) {}

  Section below(std::string_view key) const;
  const Member* find(std::string_view key) const;

  template <class T>
  void read(Setting<T>& setting, std::string_view key) const {
    if (const Member* member = find(key)) read_setting(setting, *member, dotted(key));
  }
  /// The first of several places that gives something.
  void read_presence(Setting<bool>& setting, std::string_view key) const;
  void read_word(Setting<std::string>& setting, std::string_view key) const;

 private:
  std::string dotted(std::string_view key) const { return prefix_ + std::string(key); }

  const Node* mapping_;
  std::string prefix_;
};

}  // namespace cpplan::config
