#pragma once
// Launcher variables one at a time: what is unreadable becomes a finding, never a number.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/environment.hpp"

namespace cpplan::cluster {

/// A number and the variable that held it.
struct Read {
  Index value = 0;
  std::string variable;
};

class VariableReader {
 public:
  VariableReader(const Variables& variables, diag::Diagnostics& findings)
      : variables_(variables), findings_(findings) {}

  bool has(std::string_view name) const { return variables_.contains(name); }
  /// A whole number from 1 on; after a type where one was asked for: "h100:8".
  std::optional<Index> count(std::string_view name);
  /// The same of the first of `names` that is set.
  std::optional<Read> first_count(std::initializer_list<std::string_view> names);
  /// A whole number from 0 on, of the first of `names` that is set.
  std::optional<Read> first_rank(std::initializer_list<std::string_view> names);

  /// SLURM's lists; empty where the variable is not set or unreadable.
  std::vector<Index> tasks_per_node(std::string_view name);
  std::vector<std::string> hosts(std::string_view name);

 private:
  std::optional<Index> number(std::string_view name, Index least);
  /// Once a variable, however often it is read.
  void report(const Variables::value_type& variable, std::string_view wanted);
  const Variables::value_type* first_set(std::initializer_list<std::string_view> names) const;

  const Variables& variables_;
  diag::Diagnostics& findings_;
};

}  // namespace cpplan::cluster
