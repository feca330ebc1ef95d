#pragma once
// How the ranks of a run are started: by which launcher, on which hosts, and who sees what they do.
#include "app/options.hpp"
#include "launch/command.hpp"
#include "launch/placement.hpp"
#include "launch/supervisor.hpp"
#include "plan/plan.hpp"

namespace cpplan::app {

struct RankLaunch {
  launch::Launcher launcher = launch::Launcher::mpirun;
  launch::Placement placement;
  record::WatchedThrough watched = record::WatchedThrough::folder;
  std::string host;  // ours

  Index ranks_here() const;
};

/// Errors: hosts that cannot be read, or are too few for the plan.
Result<RankLaunch> choose_launch(const RunOptions& options, const plan::Plan& plan);

/// `folder`: of the supervisor, on this host. Error: srun cannot start MPI ranks.
Result<launch::Command> command_of(const RankLaunch& launch, const RunOptions& options,
                                   const record::RunFolder& folder);

/// Prints command, environment and rank map in place of a run; returns the exit code.
int dry_run(const RunOptions& options, const plan::Plan& plan);

}  // namespace cpplan::app
