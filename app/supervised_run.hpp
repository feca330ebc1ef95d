#pragma once
// The launcher's part of a run: starts the ranks, shows what they print, says how they ended.
#include "app/prepared_run.hpp"
#include "app/rank_launch.hpp"
#include "app/run_archive.hpp"

namespace cpplan::app {

/// Comes back when no rank is left; returns the exit code of the run.
int supervise_ranks(const RunOptions& options, const PreparedRun& prepared, const RankLaunch& how,
                    RunArchive& archive);

}  // namespace cpplan::app
