// Cutting optimizer state, or parameters and gradients too, over data-parallel ranks changes no
// number: in fp64 the gradients of one rank, and bytes and memory as planned.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/experiment.hpp"
#include "engine/sampled.hpp"
#include "kernels/cpu/cpu_ops.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {
using engine::DataParallelSettings;
using engine::Sharding;

Experiment short_run() {
  return {.steps = std::min(full_run, 4)};
}

Experiment with(Experiment e, layout::ParallelDims dims, DataParallelSettings settings) {
  e.dims = dims;
  e.data_parallel = settings;
  return e;
}

void check_against(const Outcome& one, const Experiment& e) {
  CAPTURE(name_of(e));
  CAPTURE(static_cast<int>(e.data_parallel.sharding));
  const Outcome outcome = train(e, kernels::make_reference_ops);
  REQUIRE(outcome.failure == "");
  CHECK(outcome.initial_weights == one.initial_weights);
  const auto [gradient_distance, worst_parameter] = distance(outcome.gradients, one.gradients);
  CAPTURE(worst_parameter);
  CHECK(gradient_distance <= 1e-12);
  CHECK(distance(outcome.final_weights, one.final_weights).value <= 1e-10);
  CHECK(curve_distance(outcome.losses, one.losses) <= 1e-11);
  CHECK(curve_distance(outcome.grad_norms, one.grad_norms) <= 1e-10);
  CHECK(outcome.broken_promises == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("sharding: optimizer state and parameters over every kind of layout") {
  const Outcome one = train(short_run(), kernels::make_reference_ops);
  for (const Sharding sharding : {Sharding::optimizer, Sharding::parameters}) {
    for (const layout::ParallelDims& dims : sampled<layout::ParallelDims>({{1, 3, 1, 1},
                                                                           {2, 2, 2, 2, true},
                                                                           {1, 5, 1, 1},
                                                                           {1, 1, 1, 2},
                                                                           {2, 2, 1, 2, true},
                                                                           {2, 1, 2, 2, false},
                                                                           {1, 2, 4, 1}})) {
      check_against(one, with(short_run(), dims, {.sharding = sharding}));
    }
  }
}

TEST_CASE("sharding: copies over the outer part of data parallelism") {
  const Outcome one = train(short_run(), kernels::make_reference_ops);
  for (const Sharding sharding : {Sharding::optimizer, Sharding::parameters}) {
    check_against(one, with(short_run(), {1, 1, 1, 4}, {.sharding = sharding, .replicate = 2}));
    check_against(one, with(short_run(), {1, 3, 1, 2}, {.sharding = sharding, .replicate = 2}));
  }
}

TEST_CASE("sharding: parameters kept whole after forward") {
  const Outcome one = train(short_run(), kernels::make_reference_ops);
  const DataParallelSettings kept{.sharding = Sharding::parameters, .reshard_after_forward = false};
  check_against(one, with(short_run(), {1, 3, 1, 1}, kept));
  check_against(one, with(short_run(), {2, 1, 2, 2, true}, kept));
}

TEST_CASE("sharding: layers that are computed again") {
  Experiment base = short_run();
  base.recompute = engine::Recompute::full;
  const Outcome one = train(base, kernels::make_reference_ops);
  check_against(one, with(base, {2, 1, 1, 2, true}, {.sharding = Sharding::parameters}));
}

TEST_CASE("sharding: thirty losses in fp64") {
  const Experiment base{.global_batch = 2};
  const Outcome one = train(base, kernels::make_reference_ops);
  for (const Sharding sharding : {Sharding::optimizer, Sharding::parameters}) {
    check_against(one, with(base, {1, 3, 1, 2}, {.sharding = sharding}));
  }
}

TEST_CASE("sharding: overlap with the backward pass changes no bit") {
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
    for (const layout::ParallelDims& dims :
         sampled<layout::ParallelDims>({{2, 1, 2, 2, true}, {1, 3, 1, 1}, {1, 1, 1, 4}}, 1)) {
      Experiment waits = short_run();
      waits.dtype = kernels::DType::f32;
      waits = with(waits, dims, {.sharding = sharding, .replicate = dims.dp / 2 + dims.dp % 2});
      waits.virtual_stages = dims.pp;
      Experiment overlaps = waits;
      overlaps.data_parallel.overlap_gradients = true;
      overlaps.data_parallel.overlap_parameters = sharding == Sharding::optimizer;
      CAPTURE(name_of(waits));
      const BackendFactory cpu = [](kernels::Trace& t) { return kernels::make_cpu_ops(t); };
      const Outcome expected = train(waits, cpu), outcome = train(overlaps, cpu);
      REQUIRE(outcome.failure == "");
      CHECK(outcome.losses == expected.losses);
      CHECK(outcome.grad_norms == expected.grad_norms);
      CHECK(outcome.final_weights == expected.final_weights);
      CHECK(outcome.broken_promises == std::vector<std::string>{});
    }
  }
}

}  // namespace cpplan::test
