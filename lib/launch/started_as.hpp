#pragma once
// Whether this process is the launcher or one of the ranks. Pure.
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "cluster/environment.hpp"
#include "record/run_folder.hpp"

namespace cpplan::launch {

/// Set by the launcher for the ranks it starts: the scratch folder of the run.
inline constexpr std::string_view run_folder_variable = "CPPLAN_RUN_FOLDER";

/// A rank among `world`. `folder`: of the launcher that started it and watches it; none where
/// somebody else did (mpirun -n 8 cpplan run ...).
struct RankIdentity {
  int rank = 0, world = 1;
  std::optional<record::RunFolder> folder;
};

/// Nothing: this process is the launcher. Error: the variables contradict each other.
Result<std::optional<RankIdentity>> started_as(const cluster::Variables&);

}  // namespace cpplan::launch
