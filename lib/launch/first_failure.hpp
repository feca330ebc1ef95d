#pragma once
// Which rank brought the job down, from what can be seen of all of them. One dead or stopped rank
// soon makes every other one wait too long; those are witnesses, not the cause. Pure.
#include <optional>
#include <span>
#include <string>

#include "diag/diagnostic.hpp"
#include "launch/launcher_flags.hpp"
#include "launch/process.hpp"
#include "record/rank_status.hpp"

namespace cpplan::launch {

/// A rank as the supervisor sees it at one moment.
struct RankView {
  std::optional<record::RankStatus> status;  // none: it has not said anything yet
  Life life = Life::running;
  Seconds unchanged{};  // how long its entry has been the same
};

enum class Cause : std::uint8_t {
  died,      // its process is gone before its work was done
  failed,    // it said so itself
  stopped,   // its process is stopped, and others wait for it
  silent,    // it is on another host, and nothing has been heard from it
  stuck,     // it does not move, and does not wait for anybody
  waited,    // all that is known: it waited too long for its peers
  launcher,  // the launcher of the ranks itself ended
};

struct RankFailure {
  Cause cause = Cause::died;
  std::optional<int> rank;  // none: the launcher's
  record::RankStatus status;
  std::optional<Exit> exit;  // how it ended, where somebody saw it
  std::string last_words;
  Launcher launcher = Launcher::mpirun;
};

/// Nothing while all is well. `default_limit`: of ranks that have not named theirs.
std::optional<RankFailure> first_failure(std::span<const RankView> ranks, Seconds default_limit);

/// The one message of a run that failed (CP511 rank-failed).
diag::Diagnostic to_diagnostic(const RankFailure&, int world);

}  // namespace cpplan::launch
