#include <doctest/doctest.h>

#include "launch/mpirun_output.hpp"

using namespace cpplan::launch;

TEST_CASE("tagged line: the rank and its words") {
  const TaggedLine line = parse_tagged("[1,5]<stdout>:step 1 [1,0]<stdout>: x", Stream::out);
  CHECK(line.rank == 5);
  CHECK(line.text == "step 1 [1,0]<stdout>: x");
  CHECK(parse_tagged("[1,12]<stderr>:", Stream::error).rank == 12);
}

TEST_CASE("tagged line: mpirun's own lines have no rank") {
  for (const auto* text : {"mpirun noticed that", "", "[vm:13557] Signal", "[1,5]<stderr>:x"}) {
    const TaggedLine line = parse_tagged(text, Stream::out);
    CHECK_FALSE(line.rank);
    CHECK(line.text == text);
  }
}

TEST_CASE("notice: a signal") {
  const auto notice = parse_notice(
      "-----\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code.\n"
      "-----\nmpirun noticed that process rank 1 with PID 0 on node vm exited on signal 11 "
      "(Segmentation fault).\n");
  REQUIRE(notice);
  CHECK(notice->rank == 1);
  CHECK(notice->exit == Exit{.code = 0, .signal = 11});
  CHECK(describe(notice->exit) == "was killed by signal 11 (SIGSEGV)");
}

TEST_CASE("notice: an exit code") {
  const auto notice = parse_notice(
      "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
      "the job to be terminated. The first process to do so was:\n\n"
      "  Process name: [[23032,1],7]\n  Exit code:    3\n");
  REQUIRE(notice);
  CHECK(notice->rank == 7);
  CHECK(notice->exit == Exit{.code = 3, .signal = 0});
  CHECK(describe(notice->exit) == "exited with 3");
}

TEST_CASE("notice: an abort") {
  const auto notice = parse_notice(
      "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\nwith errorcode 4.\n");
  REQUIRE(notice);
  CHECK(notice->rank == 2);
  CHECK(notice->exit.code == 4);
}

TEST_CASE("notice: nothing where no rank is named") {
  CHECK_FALSE(parse_notice(""));
  CHECK_FALSE(parse_notice("There are not enough slots available in the system to satisfy the 3"));
}
