// What must be equal bit for bit: initial weights under every layout; everything under another
// pipeline degree.
#include <doctest/doctest.h>

#include "engine/combinations.hpp"
#include "kernels/cpu/cpu_ops.hpp"

namespace cpplan::test {
namespace {

const BackendFactory cpu = [](kernels::Trace& trace) { return kernels::make_cpu_ops(trace); };

Experiment fp32() {
  return {.dtype = kernels::DType::f32};
}

}  // namespace

TEST_CASE("bits: initial weights are the same under every layout") {
  Experiment base = fp32();
  base.steps = 1;
  const Outcome one = train(base, cpu);
  for (const Experiment& experiment : combinations(base)) {
    CAPTURE(name_of(experiment));
    CHECK(train(experiment, cpu).initial_weights == one.initial_weights);
  }
}

TEST_CASE("bits: thirty steps do not depend on the pipeline degree") {
  for (const layout::ParallelDims& flat :
       {layout::ParallelDims{1, 1, 1, 1}, {2, 1, 1, 2, true}, {1, 2, 1, 2}, {1, 3, 1, 1}}) {
    Experiment base = fp32();
    base.dims = flat;
    const Outcome one = train(base, cpu);
    REQUIRE(one.failure == "");
    for (const int pp : {2, 4}) {
      Experiment staged = base;
      staged.dims.pp = pp;
      CAPTURE(name_of(staged));
      const Outcome outcome = train(staged, cpu);
      CHECK(outcome.losses == one.losses);
      CHECK(outcome.grad_norms == one.grad_norms);
      CHECK(outcome.final_weights == one.final_weights);
    }
  }
}

TEST_CASE("bits: computing layers again changes nothing") {
  for (const layout::ParallelDims& dims :
       {layout::ParallelDims{2, 2, 1, 1, true}, {2, 1, 2, 1, false}}) {
    Experiment kept = fp32();
    kept.dims = dims;
    const Outcome expected = train(kept, cpu);
    for (const engine::Recompute recompute :
         {engine::Recompute::selective, engine::Recompute::full}) {
      Experiment again = kept;
      again.recompute = recompute;
      CAPTURE(name_of(again));
      const Outcome outcome = train(again, cpu);
      REQUIRE(outcome.failure == "");
      CHECK(outcome.losses == expected.losses);
      CHECK(outcome.final_weights == expected.final_weights);
      CHECK(outcome.broken_promises == std::vector<std::string>{});
    }
  }
}

TEST_CASE("bits: chunks of an interleaved pipeline change nothing") {
  for (const layout::ParallelDims& dims :
       {layout::ParallelDims{1, 1, 2, 1}, {2, 1, 2, 1, true}, {1, 2, 2, 2}}) {
    Experiment flat = fp32();
    flat.dims = dims;
    const Outcome expected = train(flat, cpu);
    Experiment chunked = flat;
    chunked.virtual_stages = 2;
    CAPTURE(name_of(chunked));
    const Outcome outcome = train(chunked, cpu);
    REQUIRE(outcome.failure == "");
    CHECK(outcome.losses == expected.losses);
    CHECK(outcome.grad_norms == expected.grad_norms);
    CHECK(outcome.final_weights == expected.final_weights);
    CHECK(outcome.broken_promises == std::vector<std::string>{});
  }
}

TEST_CASE("bits: a run repeats itself") {
  Experiment base = fp32();
  base.dims = {2, 2, 2, 2, true};
  const Outcome first = train(base, cpu), second = train(base, cpu);
  REQUIRE(first.failure == "");
  CHECK(first.losses == second.losses);
  CHECK(first.final_weights == second.final_weights);
}

}  // namespace cpplan::test
