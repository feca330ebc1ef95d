// Every way to reach the keys of other ranks, every way to split the sequence, and windows: all
// give the gradients of one rank in fp64.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/experiment.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {
using engine::CpCommType;
using layout::Split;

Experiment short_run() {
  return {.steps = std::min(full_run, 4), .global_batch = 2};
}

Experiment with(Experiment e, layout::ParallelDims dims, engine::ContextParallelSettings settings) {
  e.dims = dims;
  e.context_parallel = std::move(settings);
  return e;
}

void check_against(const Outcome& one, const Experiment& e) {
  CAPTURE(name_of(e));
  CAPTURE(static_cast<int>(e.context_parallel.split));
  CAPTURE(static_cast<int>(e.context_parallel.layer_types.front()));
  const Outcome outcome = train(e, kernels::make_reference_ops);
  REQUIRE(outcome.failure == "");
  const auto [gradient_distance, worst_parameter] = distance(outcome.gradients, one.gradients);
  CAPTURE(worst_parameter);
  CHECK(gradient_distance <= 1e-12);
  CHECK(curve_distance(outcome.losses, one.losses) <= 1e-11);
  CHECK(outcome.broken_promises == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("context parallelism: ring and gather over every split") {
  const Outcome one = train(short_run(), kernels::make_reference_ops);
  for (const Split split : {Split::head_tail, Split::contiguous, Split::striped}) {
    for (const CpCommType type : {CpCommType::p2p, CpCommType::all_gather}) {
      for (const int cp : {2, 3, 5}) {
        check_against(one, with(short_run(), {1, cp, 1, 1}, {split, {type}}));
      }
    }
  }
}

TEST_CASE("context parallelism: all-to-all over every split with KV heads shared at eight ranks") {
  const Outcome one = train(short_run(), kernels::make_reference_ops);
  for (const Split split : {Split::head_tail, Split::contiguous, Split::striped}) {
    for (const int cp : {2, 4, 8}) {
      check_against(one, with(short_run(), {1, cp, 1, 1}, {split, {CpCommType::a2a}}));
    }
  }
}

TEST_CASE("context parallelism: all-to-all among neighbours and a ring of their groups") {
  const Outcome one = train(short_run(), kernels::make_reference_ops);
  for (const Split split : {Split::head_tail, Split::contiguous}) {
    for (const auto& [cp, inner] : {std::pair{4, 2}, {6, 2}, {8, 4}, {4, 4}, {4, 1}}) {
      engine::ContextParallelSettings settings{split, {CpCommType::a2a_p2p}, inner};
      check_against(one, with(short_run(), {1, cp, 1, 1}, settings));
    }
  }
}

TEST_CASE("context parallelism: with every other degree") {
  const Outcome one = train(short_run(), kernels::make_reference_ops);
  for (const CpCommType type :
       {CpCommType::p2p, CpCommType::all_gather, CpCommType::a2a, CpCommType::a2a_p2p}) {
    const engine::ContextParallelSettings settings{Split::head_tail, {type}, 2};
    check_against(one, with(short_run(), {2, 2, 2, 2, true}, settings));
    check_against(one, with(short_run(), {4, 2, 1, 1, false}, settings));
  }
}

TEST_CASE("context parallelism: another way in each layer") {
  const Outcome one = train(short_run(), kernels::make_reference_ops);
  const engine::ContextParallelSettings mixed{
      Split::head_tail,
      {CpCommType::a2a, CpCommType::p2p, CpCommType::all_gather, CpCommType::a2a_p2p},
      2};
  check_against(one, with(short_run(), {1, 4, 2, 1}, mixed));
}

TEST_CASE("context parallelism: sliding windows are right in every way") {
  Experiment base = short_run();
  for (const Index window : {1, 5, 16}) {
    base.attention_window = window;
    const Outcome one = train(base, kernels::make_reference_ops);
    for (const Split split : {Split::head_tail, Split::contiguous, Split::striped}) {
      for (const CpCommType type : {CpCommType::p2p, CpCommType::all_gather, CpCommType::a2a}) {
        check_against(one, with(base, {1, 4, 1, 1}, {split, {type}}));
      }
    }
  }
}

}  // namespace cpplan::test
