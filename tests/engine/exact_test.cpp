// The layout does not change the mathematics, whatever the data and the model: in fp64 a few
// layouts that together go every way give the gradients of one rank to 1e-12 and its losses to
// 1e-11.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/combinations.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {

constexpr int few_steps = std::min(full_run, 3);

void check_same_mathematics(const Experiment& base) {
  const Outcome one = train(base, kernels::make_reference_ops);
  REQUIRE(one.failure == "");
  REQUIRE(one.losses.size() == static_cast<std::size_t>(base.steps));
  for (const Experiment& experiment : few_combinations(base)) {
    CAPTURE(name_of(experiment));
    const Outcome outcome = train(experiment, kernels::make_reference_ops);
    REQUIRE(outcome.failure == "");
    const auto [gradient_distance, worst_parameter] = distance(outcome.gradients, one.gradients);
    CAPTURE(worst_parameter);
    CHECK(gradient_distance <= 1e-12);
    CHECK(curve_distance(outcome.losses, one.losses) <= 1e-11);
    CHECK(curve_distance(outcome.grad_norms, one.grad_norms) <= 1e-10);
    CHECK(outcome.broken_promises == std::vector<std::string>{});
  }
}

}  // namespace

TEST_CASE("exact: padded rows with dropout") {
  check_same_mathematics({.packing = false, .dropout = 0.1, .steps = few_steps});
}

TEST_CASE("exact: packed documents without dropout") {
  check_same_mathematics({.packing = true, .dropout = 0.0, .steps = few_steps});
}

TEST_CASE("exact: two samples a micro-batch") {
  Experiment base{.packing = true, .dropout = 0.1, .steps = few_steps, .global_batch = 8};
  base.micro_batch_size = 2;
  check_same_mathematics(base);
}

TEST_CASE("exact: the way samples are grouped into micro-batches changes nothing") {
  Experiment singles{.steps = few_steps, .global_batch = 8}, pairs = singles;
  pairs.micro_batch_size = 2;
  const Outcome a = train(singles, kernels::make_reference_ops);
  const Outcome b = train(pairs, kernels::make_reference_ops);
  CHECK(distance(a.gradients, b.gradients).value <= 1e-12);
  CHECK(curve_distance(a.losses, b.losses) <= 1e-11);
}

TEST_CASE("exact: a vocabulary that TP does not divide") {
  Experiment base{.steps = few_steps};
  base.vocab_size = 61;
  check_same_mathematics(base);
}

TEST_CASE("exact: sliding windows whatever the way to other ranks' keys") {
  Experiment base{.steps = few_steps};
  base.attention_window = 5;
  const Outcome one = train(base, kernels::make_reference_ops);
  using engine::CpCommType;
  for (const CpCommType type : {CpCommType::p2p, CpCommType::all_gather, CpCommType::a2a}) {
    for (const layout::Split split : {layout::Split::head_tail, layout::Split::contiguous}) {
      Experiment windowed = base;
      windowed.dims.cp = 4;
      windowed.context_parallel = {split, {type}};
      const Outcome outcome = train(windowed, kernels::make_reference_ops);
      REQUIRE(outcome.failure == "");
      CHECK(distance(outcome.gradients, one.gradients).value <= 1e-12);
      CHECK(curve_distance(outcome.losses, one.losses) <= 1e-11);
    }
  }
}

TEST_CASE("exact: another rank order") {
  Experiment base{.steps = few_steps}, reordered = base;
  reordered.dims = {2, 2, 2, 2, true};
  using layout::Dim;
  reordered.order = {Dim::dp, Dim::pp, Dim::cp, Dim::tp, Dim::ep};
  const Outcome one = train(base, kernels::make_reference_ops);
  const Outcome outcome = train(reordered, kernels::make_reference_ops);
  REQUIRE(outcome.failure == "");
  CHECK(distance(outcome.gradients, one.gradients).value <= 1e-12);
  CHECK(curve_distance(outcome.losses, one.losses) <= 1e-11);
}

TEST_CASE("exact: tied embeddings") {
  Experiment base{.steps = few_steps};
  base.tie_word_embeddings = true;
  const Outcome one = train(base, kernels::make_reference_ops);
  Experiment split = base;
  split.dims = {2, 2, 1, 2, true};
  const Outcome outcome = train(split, kernels::make_reference_ops);
  REQUIRE(outcome.failure == "");
  CHECK(!outcome.gradients.contains("lm_head.weight"));
  CHECK(distance(outcome.gradients, one.gradients).value <= 1e-12);
  CHECK(curve_distance(outcome.losses, one.losses) <= 1e-11);
}

}  // namespace cpplan::test
