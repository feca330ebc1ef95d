// The layout does not change the mathematics: in fp64 every layout gives the gradients of one rank
// to 1e-12 and thirty losses to 1e-11, with dropout, packed or padded.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/layouts.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {

void check_same_mathematics(const Experiment& base) {
  const Outcome one = train(base, kernels::make_reference_ops);
  REQUIRE(one.failure == "");
  REQUIRE(one.losses.size() == static_cast<std::size_t>(base.steps));
  if (base.steps == 30) CHECK(one.losses.back() < one.losses.front());
  for (const Experiment& experiment : each_layout(base)) {
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

TEST_CASE("exact: packed documents with dropout") {
  check_same_mathematics({.packing = true, .dropout = 0.1});
}

TEST_CASE("exact: padded rows with dropout") {
  check_same_mathematics({.packing = false, .dropout = 0.1});
}

TEST_CASE("exact: packed documents without dropout") {
  check_same_mathematics({.packing = true, .dropout = 0.0, .steps = std::min(full_run, 8)});
}

TEST_CASE("exact: two samples a micro-batch") {
  Experiment base{
      .packing = true, .dropout = 0.1, .steps = std::min(full_run, 6), .global_batch = 8};
  base.micro_batch_size = 2;
  check_same_mathematics(base);
}

TEST_CASE("exact: the way samples are grouped into micro-batches changes nothing") {
  Experiment singles{.steps = std::min(full_run, 6), .global_batch = 8}, pairs = singles;
  pairs.micro_batch_size = 2;
  const Outcome a = train(singles, kernels::make_reference_ops);
  const Outcome b = train(pairs, kernels::make_reference_ops);
  CHECK(distance(a.gradients, b.gradients).value <= 1e-12);
  CHECK(curve_distance(a.losses, b.losses) <= 1e-11);
}

TEST_CASE("exact: a vocabulary that TP does not divide") {
  Experiment base{.steps = std::min(full_run, 6)};
  base.vocab_size = 251;
  check_same_mathematics(base);
}

TEST_CASE("exact: another rank order") {
  Experiment base{.steps = std::min(full_run, 6)}, reordered = base;
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
  Experiment base{.steps = std::min(full_run, 6)};
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
