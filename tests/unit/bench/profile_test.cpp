#include "bench/profile.hpp"

#include <doctest/doctest.h>

#include <set>

#include "bench/op_shapes.hpp"
#include "engine/meta_run.hpp"
#include "kernels/meta/meta_ops.hpp"

namespace cpplan::bench {
namespace {

AllPoints some_points(double slower) {
  return {{"gemm", {{16, {{1e3, 1e-6 * slower}, {1e6, 1e-5 * slower}}}}},
          {"copy", {{0, {{4e3, 1e-6 * slower}, {4e6, 4e-4 * slower}}}}}};
}

/// Names of the ops that a step runs.
std::set<std::string> ops_of_a_step() {
  engine::Job job;
  job.model = {.name = "small",
               .hidden_size = 64,
               .num_hidden_layers = 2,
               .num_attention_heads = 8,
               .num_key_value_heads = 4,
               .head_dim = 8,
               .intermediate_size = 96,
               .vocab_size = 256};
  job.dims = {2, 2, 1, 2, true};
  job.stage_layers = {2};
  job.capacity = 64;
  const auto trace = engine::trace_step(job, {}, engine::dense_documents(job));
  std::set<std::string> names;
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (!trace[i].op.empty()) names.insert(std::string(trace[i].op));
  return names;
}

}  // namespace

TEST_CASE("bench: what other programs disturb does not count") {
  CHECK(undisturbed({9, 3, 2, 100, 2.5}) == 2.5);
  CHECK(undisturbed({4}) == 4);
}

TEST_CASE("bench: every op of a step is measured at several sizes") {
  kernels::NoTrace trace;
  const auto ops = kernels::make_meta_ops(trace);
  const Bytes room{Index{96} << 20};
  std::map<std::string, std::set<Index>> sizes;
  for (const CaseMaker& maker : op_cases()) {
    kernels::Arena arena(ops->allocate(room), room);
    const OpCase measured = maker.make(*ops, arena, 1);
    CHECK(arena.used() > Bytes{});
    sizes[measured.op].insert((measured.cost.read + measured.cost.written).count);
  }
  for (const auto& name : ops_of_a_step()) {
    CAPTURE(name);
    CHECK(sizes[name].size() >= 3);
  }
}

TEST_CASE("bench: a profile takes the best rates and what ranks measured beside each other") {
  auto together = profile_of(some_points(2), "this machine", 2);
  together.node.message = cluster::Curve::line(1, 1);
  const auto profile = with_neighbours(profile_of(some_points(1), "this machine", 2), together);
  CHECK(profile.peak(cluster::Precision::fp32) == doctest::Approx(1e11));
  CHECK(profile.bytes_per_second == doctest::Approx(1e10));
  CHECK(profile.seconds_per_op == doctest::Approx(1e-6));
  CHECK(profile.cores == 2);
  CHECK(profile.node.message(0) == doctest::Approx(1));
  cluster::OpWork work{.op = "gemm", .flops = 1e6, .inner = 16};
  CHECK(profile.seconds_of(work) == doctest::Approx(1e-5));
  work.neighbours = cluster::Neighbours::busy;
  CHECK(profile.seconds_of(work) == doctest::Approx(2e-5));
}

}  // namespace cpplan::bench
