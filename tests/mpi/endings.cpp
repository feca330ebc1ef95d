// Jobs that must end in seconds, with exit code 4, though a rank hangs or throws.
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "base/failure.hpp"
#include "mpi/world.hpp"
#include "unit/comm/support.hpp"

namespace cpplan::comm::test {
namespace {
using namespace std::chrono_literals;

void say(const std::string& what, std::chrono::milliseconds limit) {
  std::fprintf(stderr, "%s hangs for %d ms\n", what.c_str(), static_cast<int>(limit.count()));
}

void reduce_with_all(MpiWorld& world) {
  kernels::NoTrace trace;
  std::vector<int> members;
  for (int rank = 0; rank < world.size(); ++rank) members.push_back(rank);
  const auto group = make_mpi_communicator(world, "world", members, world.rank(), trace);
  Matrix sum = filled(DType::f32, world.rank(), 1, 100);
  if (world.rank() == 1) std::this_thread::sleep_for(60s);
  group->all_reduce(sum.tensor()).wait();
}

/// Rank 1 sleeps; the first that gives up ends the job.
void absent_peer(MpiWorld& world) {
  world.endpoint().set_deadline(500ms);
  try {
    reduce_with_all(world);
  } catch (const Failure& failure) {
    std::fprintf(stderr, "rank %d: %s\n", world.rank(), failure.what());
    world.abort(Watchdog::exit_code);
  }
}

/// Rank 1 sleeps in its step, and its own watchdog ends it.
void hang(MpiWorld& world, Watchdog& watchdog) {
  const auto limit = world.rank() == 1 ? std::chrono::milliseconds(500) : 60s;
  const auto watch = watchdog.watch("step 1", limit);
  reduce_with_all(world);
}

}  // namespace

int end_badly(const std::string& kind) {
  Watchdog watchdog(say);
  try {
    MpiWorld world(watchdog, {.deadline = 60s});
    if (kind == "absent-peer") absent_peer(world);
    if (kind == "hang") hang(world, watchdog);
    if (kind == "exception" && world.rank() == 0) throw std::runtime_error("a rank throws");
    if (kind == "exception") reduce_with_all(world);
  } catch (const std::exception&) {
    return 1;  // the world must not let it pass
  }
  return 0;
}

}  // namespace cpplan::comm::test
