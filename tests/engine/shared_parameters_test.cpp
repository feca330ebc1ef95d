// Parameters that several ranks use: embeddings tied over pipeline stages, KV heads fewer than TP
// ranks. Each rank has a part of the gradient, and one rank has the sum.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/experiment.hpp"
#include "engine/sampled.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {
using engine::Sharding;

Experiment short_run() {
  return {.steps = std::min(full_run, 4)};
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
  CHECK(curve_distance(outcome.losses, one.losses) <= 1e-11);
  CHECK(curve_distance(outcome.grad_norms, one.grad_norms) <= 1e-10);
  CHECK(outcome.broken_promises == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("tied embeddings: over pipeline stages with virtual ones and every sharding") {
  Experiment base = short_run();
  base.tie_word_embeddings = true;
  const Outcome one = train(base, kernels::make_reference_ops);
  CHECK(!one.gradients.contains("lm_head.weight"));
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
    for (const layout::ParallelDims& dims : sampled<layout::ParallelDims>(
             {{2, 2, 2, 2, true}, {1, 1, 2, 1}, {1, 3, 4, 1}, {2, 1, 1, 2, true}}, 1)) {
      Experiment tied = base;
      tied.dims = dims;
      tied.data_parallel.sharding = sharding;
      check_against(one, tied);
    }
    Experiment chunked = base;
    chunked.dims = {1, 1, 2, 2};
    chunked.virtual_stages = 2;
    chunked.data_parallel = {.sharding = sharding, .overlap_gradients = true};
    check_against(one, chunked);
  }
}

TEST_CASE("shared KV heads: fewer of them than TP ranks") {
  for (const Index kv_heads : sampled<Index>({1, 2}, 1)) {
    Experiment base = short_run();
    base.kv_heads = kv_heads;
    const Outcome one = train(base, kernels::make_reference_ops);
    for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
      for (const layout::ParallelDims& dims : sampled<layout::ParallelDims>(
               {{4, 1, 1, 2, true}, {2, 1, 2, 1, false}, {8, 2, 1, 1, true}}, 1)) {
        Experiment shared = base;
        shared.dims = dims;
        shared.data_parallel.sharding = sharding;
        check_against(one, shared);
      }
    }
  }
}

TEST_CASE("shared KV heads: heads exchanged over CP ranks, too") {
  Experiment base = short_run();
  base.kv_heads = 2;
  const Outcome one = train(base, kernels::make_reference_ops);
  Experiment shared = base;
  shared.dims = {4, 2, 1, 1, true};
  shared.context_parallel.layer_types = {engine::CpCommType::a2a};
  check_against(one, shared);
}

}  // namespace cpplan::test
