#pragma once
// Everything the supervisor asks of the operating system, behind a small interface, so that every
// way of dying can be acted out in a test.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "launch/command.hpp"
#include "launch/mpirun_output.hpp"

namespace cpplan::launch {

using Seconds = std::chrono::duration<double>;

/// gone: no such process, or a zombie, or another one under a reused id. silent: on another host,
/// and it has not spoken for some seconds.
enum class Life { running, stopped, gone, silent };

struct OutputLine {
  Stream stream = Stream::out;
  std::string text;  // without its newline
};

class Processes {
 public:
  virtual ~Processes() = default;

  /// Starts the launcher of the ranks in a process group of its own; its end follows ours.
  /// Error: the program is not there.
  virtual Result<void> spawn(const Command&) = 0;
  /// Lines it has printed; waits at most `limit` for the first.
  virtual std::vector<OutputLine> output(Seconds limit) = 0;
  /// How it ended, once it has.
  virtual std::optional<Exit> ended() = 0;
  /// Sends a signal to the launcher, and as a rule to all of its process group.
  virtual void signal_launcher(int signal) = 0;

  virtual Life life(int pid, Index start_ticks) = 0;
  /// Does nothing where that process is gone.
  virtual void kill_rank(int pid, Index start_ticks) = 0;

  /// Since some fixed point; never goes back.
  virtual Seconds now() = 0;
};

/// Those of this machine.
std::unique_ptr<Processes> make_processes();

}  // namespace cpplan::launch
