// Whole training steps on an emulated CUDA device, two ranks of a ring: the mathematics of the
// host's kernels, in the ops, bytes and memory that the meta run foretells, and no allocation after
// the first step.
#include <doctest/doctest.h>

#include "comm/rank_runner.hpp"
#include "comm/staged.hpp"
#include "emulator/settings.hpp"
#include "engine/experiment.hpp"
#include "kernels/cpu/cpu_ops.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/stream_device.hpp"

namespace cpplan::test {
namespace {

using kernels::cuda::CudaOps;
using kernels::cuda::StreamDevice;

/// The ops of a rank and the groups of its device, by way of the host.
struct CudaRank final : RankGroups {
  CudaRank(comm::ThreadWorld& world, const layout::Ranks& ranks, int rank,
           const comm::GroupSettings& settings, kernels::Trace& trace)
      : ops(std::make_unique<CudaOps>(trace, 0)), device(0, ops->stream()) {
    set = comm::make_staged_groups(device, blocks, world.endpoint(rank),
                                   comm::make_thread_groups(world, ranks, rank, untold, settings),
                                   trace);
  }
  ~CudaRank() override { set = {}; }  // before what they stand on

  kernels::NoTrace untold;
  std::unique_ptr<CudaOps> ops;
  StreamDevice device;
  comm::PinnedBlocks blocks{device};
};

/// Ops that were made with a rank's groups, until the rank takes them.
thread_local std::unique_ptr<CudaOps> ops_of_rank;

std::unique_ptr<RankGroups> on_devices(comm::ThreadWorld& world, const layout::Ranks& ranks,
                                       int rank, const comm::GroupSettings& settings) {
  static kernels::NoTrace trace;
  auto made = std::make_unique<CudaRank>(world, ranks, rank, settings, trace);
  ops_of_rank = std::move(made->ops);
  return made;
}

std::unique_ptr<kernels::Ops> take_ops(kernels::Trace&) {
  return std::move(ops_of_rank);
}

Experiment ring_of_two(kernels::DType dtype) {
  return {.dims = {1, 2, 1, 1}, .dtype = dtype, .steps = 2, .global_batch = 2};
}

Outcome on_host(Experiment experiment, int ranks) {
  experiment.dims.cp = ranks;
  return train(experiment, kernels::make_cpu_ops);
}

}  // namespace

TEST_CASE("cuda: a step in fp32 is that of the host's kernels") {
  const Experiment experiment = ring_of_two(kernels::DType::f32);
  const Outcome host = on_host(experiment, 2);
  const Outcome device = train(experiment, take_ops, on_devices);
  REQUIRE(device.failure == "");
  CHECK(device.initial_weights == host.initial_weights);
  const auto [gradients, worst_parameter] = distance(device.gradients, host.gradients);
  CAPTURE(worst_parameter);
  CHECK(gradients <= 1e-5);
  CHECK(curve_distance(device.losses, host.losses) <= 1e-5);
  CHECK(device.sent == host.sent);
  CHECK(device.broken_promises == std::vector<std::string>{});
}

TEST_CASE("cuda: a step in bf16 is no further from fp32 than twice that of one rank of the host") {
  const Experiment experiment = ring_of_two(kernels::DType::bf16);
  const Outcome fp32 = on_host(ring_of_two(kernels::DType::f32), 1);
  const Outcome one = on_host(experiment, 1);
  const Outcome device = train(experiment, take_ops, on_devices);
  REQUIRE(device.failure == "");
  const auto [gradients, worst_parameter] = distance(device.gradients, fp32.gradients);
  CAPTURE(worst_parameter);
  CHECK(gradients <= 2 * distance(one.gradients, fp32.gradients).value);
  CHECK(device.broken_promises == std::vector<std::string>{});
}

namespace {

/// Trains a rank under `trace`; returns what its device and its pinned memory were asked for in
/// steps after the first.
Index allocations_after_the_first_step(const Experiment& e, const engine::Job& job, int rank,
                                       const comm::GroupSet& set, kernels::Ops& ops,
                                       engine::StepTrace& trace) {
  const auto at = layout::Ranks(job.dims, job.order).coordinates(rank);
  const engine::Groups groups = engine::groups_of(set);
  engine::Trainer trainer(ops, groups, job, at, engine::meta_run(job, at).memory);
  const auto step = [&](Index number) {
    trace.clear();
    trainer.step(number, 0, [&](int m) { return micro_batch(e, number, m, 0); });
  };
  step(1);
  const Index before = emulator::statistics().allocations;
  step(2);
  return emulator::statistics().allocations - before;
}

}  // namespace

TEST_CASE("cuda: events of a step are those of the meta run and nothing is allocated after one") {
  Experiment experiment = ring_of_two(kernels::DType::bf16);
  experiment.global_batch = 1;
  const engine::Job job = job_of(experiment);
  const layout::Ranks ranks(job.dims, job.order);
  comm::ThreadWorld world(ranks.world(), std::chrono::seconds(60));
  std::vector<engine::StepTrace> traces(2);
  std::vector<Index> allocations(2);
  const auto done = comm::run_ranks(world, [&](int rank) {
    CudaRank on_device(world, ranks, rank, engine::group_settings(job), traces[rank]);
    allocations[rank] = allocations_after_the_first_step(experiment, job, rank, on_device.set,
                                                         *on_device.ops, traces[rank]);
  });
  REQUIRE(done);
  const auto documents = micro_batch(experiment, 2, 0, 0).documents;
  for (int rank = 0; rank < ranks.world(); ++rank) {
    CAPTURE(rank);
    CHECK(allocations[rank] == 0);
    const auto expected = engine::trace_step(job, ranks.coordinates(rank), documents);
    CHECK(traces[rank].flops().count == expected.flops().count);
    REQUIRE(traces[rank].size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(traces[rank][i] == expected[i]);
    }
  }
}

}  // namespace cpplan::test
