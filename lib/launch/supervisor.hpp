#pragma once
// Starts the ranks, passes their words on, and ends them all when one of them cannot go on: within
// a second of the cause, with one account of it, and nothing left behind.
#include <functional>
#include <optional>

#include "launch/first_failure.hpp"
#include "launch/launcher_flags.hpp"
#include "launch/process.hpp"
#include "record/rank_report.hpp"
#include "record/run_folder.hpp"

namespace cpplan::launch {

/// What the supervisor tells while the job runs.
struct Listener {
  std::function<void(int rank, Stream stream, const std::string& line)> line;
  /// Called some times a second with the step that rank 0 is in; may be empty.
  std::function<void(Index step)> progress;
  /// Asked some times a second: has the user asked for the end?
  std::function<bool()> stop_requested;
  /// Asked while the job is being ended: has the user asked again, to have it ended at once? May be
  /// empty.
  std::function<bool()> stop_repeated;
  /// Likewise: has somebody asked for a checkpoint and the end? May be empty.
  std::function<bool()> checkpoint_requested;
};

struct Supervision {
  int world = 1;
  record::RunFolder folder;
  Launcher launcher = Launcher::mpirun;
  record::WatchedThrough watched = record::WatchedThrough::folder;
  std::string host = {};     // ours, where ranks are watched through their output
  Seconds start_limit{300};  // for a rank that has not named its own limit
};

struct Outcome {
  /// checkpointed: ended early, because a checkpoint and the end were asked for.
  enum class End : std::uint8_t { finished, failed, interrupted, checkpointed } end = End::finished;
  std::optional<RankFailure> failure;
  int exit_code = 0;  // of a run that finished, as far as its ranks report it
};

/// Comes back when no process of the job is left. Error: the launcher of the ranks is not there, or
/// refused to start them.
Result<Outcome> supervise(Processes&, const Command&, const Supervision&, const Listener&);

}  // namespace cpplan::launch
