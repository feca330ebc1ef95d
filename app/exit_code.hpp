#pragma once
// What the process tells its caller. Documented in --help and the README.

namespace cpplan::app {

enum ExitCode : int {
  ok = 0,
  findings = 1,         // findings of severity error, or no plan fits
  usage = 2,            // a bad flag, a missing argument
  environment = 3,      // unreadable file, no mpirun, no GPU where one is required
  rank_failed = 4,      // a rank failed or timed out
  check_failed = 5,     // a prediction or an equality check did not hold
  internal_error = 70,  // our own bug
  checkpointed = 75,    // wrote a checkpoint on request and stopped
  interrupted = 130,
};

}  // namespace cpplan::app
