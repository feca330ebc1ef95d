#pragma once
// What a rank is doing, kept where its launcher can read it even after the rank was killed: a file
// of fixed size that the rank maps and rewrites in place, at the cost of a few stores.
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cpplan::record {

/// starting: before its first step. computing, waiting: in a step; waiting: for peers.
/// finished: all steps done. failed: said its last words. checkpointed: ended early, on request.
enum class RankState : std::uint32_t {
  starting,
  computing,
  waiting,
  finished,
  failed,
  checkpointed
};
std::string_view name_of(RankState);

/// The operation of a rank that has not met the others yet.
inline constexpr std::string_view before_start = "start";

struct RankStatus {
  int rank = 0, pid = 0;
  Index start_ticks = 0;  // of the process, field 22 of /proc/PID/stat: tells a reused pid
  std::string host;
  RankState state = RankState::starting;
  Index step = 0;                // from 1; 0: none yet
  std::string group, operation;  // "dp_cp", "all_reduce"; no group: a computation
  double since = 0;              // seconds since the epoch at which the operation began
  double limit_seconds = 0;      // after which the rank calls a wait too long; 0: not yet known
  std::string last_words;
  Index updates = 0;  // grows with every change: an entry that stays the same is stale
};

/// The rank's end. Thread-safe: a watchdog may write while the rank is stuck.
class StatusFile {
 public:
  /// Makes the file of `rank`. Error: cannot be written.
  static Result<StatusFile> create(const std::filesystem::path& path, int rank);
  /// In this process alone: for a rank whose launcher is on another host and reads no file of ours.
  static StatusFile in_memory(int rank);
  StatusFile(StatusFile&&) noexcept;
  StatusFile& operator=(StatusFile&&) noexcept;
  ~StatusFile();

  void begin_step(Index step, std::chrono::duration<double> limit);
  void computing(std::string_view operation);
  void waiting(std::string_view group, std::string_view operation);
  void finished();
  void checkpointed();
  /// The first words stay: what follows is a consequence.
  void failed(std::string_view last_words);
  /// Words of a rank that is ending by a signal; where it stands stays as it is. Safe in the
  /// handler of one, also in the middle of another update.
  void crashed(std::string_view last_words);

  /// As a reader would see it now.
  RankStatus read() const;

 private:
  struct Mapping;
  explicit StatusFile(std::unique_ptr<Mapping>);
  std::unique_ptr<Mapping> mapping_;
};

/// Error: the rank has not made its file yet.
Result<RankStatus> read_rank_status(const std::filesystem::path& path);

/// Start time of a process in clock ticks since boot; nothing where it has gone.
Result<Index> process_start_ticks(int pid);

}  // namespace cpplan::record
