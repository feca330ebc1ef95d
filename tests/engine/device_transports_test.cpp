// What connects the ranks' devices does not change the mathematics: over NCCL the gradients of one
// rank to 1e-12, by way of the host those of ranks on the host bit for bit, in what is sent and
// held as planned. A transfer that NCCL would not let pass ends the run by its deadline.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/attention_check.hpp"
#include "engine/combinations.hpp"
#include "engine/sampled.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {

constexpr int few_steps = 2;

Experiment base() {
  return {.packing = true, .dropout = 0.1, .steps = few_steps};
}

/// A few that together go every way, and a pipeline that goes round.
std::vector<Experiment> experiments() {
  auto chosen = few_combinations(base());
  Experiment round = base();
  round.dims.pp = 2, round.dims.cp = 2;
  round.virtual_stages = 2;
  chosen.insert(chosen.begin(), round);
  return sampled(chosen, 3);
}

TEST_CASE("nccl: attention in rings and gathers and exchanges is that of one softmax") {
  const auto cases = covering_attention_cases();
  constexpr std::size_t every = full_run < 30 ? 64 : 8;
  for (std::size_t i = 0; i < cases.size(); i += every) check_attention(cases[i], over_nccl);
}

TEST_CASE("nccl: layouts have the mathematics of one rank and send what is planned") {
  const Outcome one = train(base(), kernels::make_reference_ops);
  REQUIRE(one.failure == "");
  for (const Experiment& experiment : experiments()) {
    CAPTURE(name_of(experiment));
    const Outcome outcome = train(experiment, kernels::make_reference_ops, over_nccl);
    REQUIRE(outcome.failure == "");
    const auto [gradient_distance, worst_parameter] = distance(outcome.gradients, one.gradients);
    CAPTURE(worst_parameter);
    CHECK(gradient_distance <= 1e-12);
    CHECK(curve_distance(outcome.losses, one.losses) <= 1e-11);
    CHECK(outcome.broken_promises == std::vector<std::string>{});
  }
}

TEST_CASE("staged: layouts give the bits of ranks on the host and send what is planned") {
  for (const Experiment& experiment : experiments()) {
    CAPTURE(name_of(experiment));
    const Outcome host = train(experiment, kernels::make_reference_ops);
    const Outcome outcome = train(experiment, kernels::make_reference_ops, over_the_host);
    REQUIRE(outcome.failure == "");
    CHECK(outcome.losses == host.losses);
    CHECK(outcome.gradients == host.gradients);
    CHECK(outcome.sent == host.sent);
    CHECK(outcome.broken_promises == std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace cpplan::test
