// The layouts over MPI processes: bit for bit what in-process ranks give, and the gradients of one
// rank to 1e-12. Started by mpirun with as many ranks as one of the layouts needs.
#include <cstdio>

#include "comm/mpi.hpp"
#include "comm/transports.hpp"
#include "engine/experiment.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {

/// Sums the ranks' shards into whole tensors, in the order of `names`.
Tensors gathered(const Tensors& mine, const Tensors& names, comm::Communicator& world) {
  Tensors whole;
  for (const auto& [name, shape] : names) {
    const auto found = mine.find(name);
    auto& tensor = whole[name];
    tensor = found == mine.end() ? std::vector<double>(shape.size()) : found->second;
    const Index size = std::ssize(tensor);
    world
        .all_reduce(
            {reinterpret_cast<std::byte*>(tensor.data()), 1, size, size, kernels::DType::f64})
        .wait();
  }
  return whole;
}

int check(bool holds, const char* what, const Experiment& e) {
  if (!holds) std::fprintf(stderr, "FAILED: %s (%s over MPI)\n", what, name_of(e).c_str());
  return holds ? 0 : 1;
}

/// Failures on this rank.
int check_layout(const Experiment& e, comm::MpiWorld& world) {
  const engine::Job job = job_of(e);
  const layout::Ranks ranks(job.dims, job.order);
  kernels::NoTrace trace;
  const auto set = comm::make_mpi_groups(world, ranks, trace, engine::group_settings(job));
  const auto before = world.endpoint().posted();
  const RankReport report = train_rank(e, job, world.rank(), set, kernels::make_reference_ops);
  int failures = 0;
  if (before.empty()) {
    failures += check(broken_promises(report, world.endpoint().posted(), e.steps).empty(),
                      "bytes and memory as planned", e);
  }
  Experiment single = e;
  single.dims = {};
  const Outcome one = train(single, kernels::make_reference_ops);
  const Tensors gradients = gathered(report.gradients, one.gradients, *set.world);
  if (world.rank() != 0) return failures;
  const Outcome threads = train(e, kernels::make_reference_ops);
  failures +=
      check(report.losses == threads.losses, "losses equal those of threads bit for bit", e);
  failures += check(report.grad_norms == threads.grad_norms, "grad norms equal bit for bit", e);
  failures += check(gradients == threads.gradients, "gradients equal bit for bit", e);
  failures += check(distance(gradients, one.gradients).value <= 1e-12, "gradients of one rank", e);
  failures += check(curve_distance(report.losses, one.losses) <= 1e-11, "losses of one rank", e);
  return failures;
}

std::vector<layout::ParallelDims> layouts_of(int world_size) {
  switch (world_size) {
    case 3:
      return {{1, 3, 1, 1, false}};
    case 5:
      return {{1, 5, 1, 1, false}};
    case 8:
      return {{2, 2, 2, 1, true}, {4, 2, 1, 1, true}, {2, 2, 1, 2, false}};
    default:
      return {};
  }
}

int run() {
  comm::Watchdog watchdog([](const std::string& what, std::chrono::milliseconds) {
    std::fprintf(stderr, "FAILED: %s hangs\n", what.c_str());
  });
  comm::MpiWorld world(watchdog, {.deadline = std::chrono::seconds(120)});
  int failures = layouts_of(world.size()).empty() ? 1 : 0;
  for (const auto& dims : layouts_of(world.size())) {
    Experiment e;
    e.dims = dims;
    failures += check_layout(e, world);
  }
  if (world.rank() == 0 && failures == 0) std::puts("ok");
  return failures;
}

}  // namespace
}  // namespace cpplan::test

int main() {
  return cpplan::test::run() == 0 ? 0 : 1;
}
