#pragma once
// Groups of each kind, and how many of them leave their node.
#include <optional>
#include <string>
#include <vector>

#include "layout/ranks.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

struct GroupKind {
  std::string name;  // "tp", "dp_cp", "ep"
  int size = 1;
  std::vector<layout::Group> groups;
  std::optional<Index> crossing;  // none where the GPUs of a node are not known
};

/// Groups along every dimension and every pair that is needed, of more than one rank; those of the
/// experts where there are any. Empty beyond 65,536 ranks.
std::vector<GroupKind> group_kinds(const plan::Plan& plan);

}  // namespace cpplan::report
