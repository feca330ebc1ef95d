#pragma once
// Whether this process is the launcher or one of the ranks. Pure.
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "cluster/environment.hpp"
#include "record/rank_report.hpp"
#include "record/run_folder.hpp"

namespace cpplan::launch {

/// Set by the launcher for the ranks it starts: the scratch folder of the run, or that it reads
/// what they report in their output.
inline constexpr std::string_view run_folder_variable = "CPPLAN_RUN_FOLDER";
inline constexpr std::string_view reports_variable = "CPPLAN_REPORTS";

/// A rank among `world`, and who watches it: nobody where somebody else started it (mpirun -n 8
/// cpplan run ...).
struct RankIdentity {
  int rank = 0, world = 1;
  record::WatchedThrough watched = record::WatchedThrough::nobody;
  std::optional<record::RunFolder> folder;
};

/// Nothing: this process is the launcher. Error: the variables contradict each other, or our
/// launcher has started this process and none of them says which rank it is.
Result<std::optional<RankIdentity>> started_as(const cluster::Variables&);

}  // namespace cpplan::launch
