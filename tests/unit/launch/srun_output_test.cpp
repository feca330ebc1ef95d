#include <doctest/doctest.h>

#include <csignal>

#include "launch/srun_output.hpp"

using namespace cpplan::launch;

TEST_CASE("srun's labels: the rank and its words") {
  CHECK(parse_labelled("5: step 1: x", Stream::out).rank == 5);
  CHECK(parse_labelled("5: step 1: x", Stream::out).text == "step 1: x");
  CHECK(parse_labelled(" 07:", Stream::error).rank == 7);
  CHECK(parse_labelled("12:   indented", Stream::out).text == "  indented");
}

TEST_CASE("srun's labels: its own lines and those of its daemons have no rank") {
  for (const auto* text : {"srun: error: node2: task 5: Killed", "", "-1: x", "5 apples"})
    CHECK_FALSE(parse_labelled(text, Stream::error).rank);
  const TaggedLine daemon =
      parse_labelled("0: slurmstepd-node1: error: *** STEP 1.0 ON node1 CANCELLED", Stream::error);
  CHECK_FALSE(daemon.rank);
}

TEST_CASE("srun's notices: the first task that ended badly") {
  const auto killed = parse_srun_notice(
      "srun: launch/slurm: _step_signal: Terminating StepId=1.0\n"
      "srun: error: node2: task 5: Killed\n"
      "srun: error: node1: tasks 0-3: Killed\n");
  REQUIRE(killed);
  CHECK(killed->rank == 5);
  CHECK(killed->exit == Exit{.code = 0, .signal = SIGKILL});
  const auto code = parse_srun_notice("srun: error: node1: tasks 0-3,6: Exited with exit code 2");
  REQUIRE(code);
  CHECK(code->rank == 0);
  CHECK(code->exit == Exit{.code = 2, .signal = 0});
  CHECK(
      parse_srun_notice("srun: error: n: task 1: Segmentation fault (core dumped)")->exit.signal ==
      SIGSEGV);
  CHECK(parse_srun_notice("srun: error: n: task 1: Out Of Memory")->exit.signal == SIGKILL);
}

TEST_CASE("srun's notices: none where no task is named") {
  CHECK_FALSE(parse_srun_notice("srun: error: Unable to create step: More processors requested\n"));
  CHECK_FALSE(parse_srun_notice("srun: error: node1: task 3: something else"));
  CHECK_FALSE(parse_srun_notice(""));
}
