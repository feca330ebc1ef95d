// mpirun -n N mpi_comm test | test-pieces | absent-peer | hang | exception
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "mpi/world.hpp"

namespace cpplan::comm::test {
namespace {
using namespace std::chrono_literals;

MpiWorld* world = nullptr;

void say(const std::string& what, std::chrono::milliseconds limit) {
  std::fprintf(stderr, "%s hangs for %d ms\n", what.c_str(), static_cast<int>(limit.count()));
}

/// Every rank runs all cases in the same order; one that fails an assertion goes on.
int run_cases(Bytes largest_message) {
  Watchdog watchdog(say);
  MpiWorld mpi(watchdog, {.deadline = 10s, .largest_message = largest_message});
  world = &mpi;
  doctest::Context context;
  context.setOption("minimal", mpi.rank() != 0);
  return context.run();
}

}  // namespace

MpiWorld& the_world() {
  return *world;
}

}  // namespace cpplan::comm::test

int main(int argc, char** argv) {
  using namespace cpplan;
  const std::string mode = argc > 1 ? argv[1] : "test";
  if (mode == "test") return comm::test::run_cases(comm::MpiSettings{}.largest_message);
  if (mode == "test-pieces") return comm::test::run_cases(Bytes{1000});
  return comm::test::end_badly(mode);
}
