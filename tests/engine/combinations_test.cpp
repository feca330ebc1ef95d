// The layout does not change the mathematics: in fp64, with dropout and packed documents, every
// combination of parallel forms gives the gradients of one rank to 1e-12 and its losses to 1e-11.
// And the plan is what happens: what every rank sends and holds is what its meta run says, and the
// bytes are those of the closed formulas.
#include <doctest/doctest.h>

#include "engine/closed_volumes.hpp"
#include "engine/combinations.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {

/// The run of one rank, as long as any that is held against it.
const Outcome& one_rank() {
  static const Outcome one = train({}, kernels::make_reference_ops);
  return one;
}

void check_mathematics(const Outcome& outcome, const Outcome& one) {
  const auto [gradient_distance, worst_parameter] = distance(outcome.gradients, one.gradients);
  CAPTURE(worst_parameter);
  CHECK(gradient_distance <= 1e-12);
  const auto steps = static_cast<std::ptrdiff_t>(outcome.losses.size());
  const auto begin = [&](const std::vector<double>& curve) {
    return std::vector<double>(curve.begin(), curve.begin() + steps);
  };
  CHECK(curve_distance(outcome.losses, begin(one.losses)) <= 1e-11);
  CHECK(curve_distance(outcome.grad_norms, begin(one.grad_norms)) <= 1e-10);
}

/// What the ranks of each stage would send together.
std::vector<Volumes> planned(const Experiment& e) {
  const engine::Job job = job_of(e);
  const layout::Ranks ranks(job.dims, job.order);
  std::vector<Volumes> sent(static_cast<std::size_t>(job.dims.pp));
  for (int rank = 0; rank < ranks.world(); ++rank) {
    const auto at = ranks.coordinates(rank);
    for (const auto& [key, traffic] : engine::meta_run(job, at).traffic)
      if (traffic.sent.count > 0) sent[at[layout::Dim::pp]][key] += traffic.sent.count;
  }
  return sent;
}

void check_volumes(const Experiment& e, const std::vector<Volumes>& all_sent) {
  const engine::Job job = job_of(e);
  const std::pair<std::string, std::string> control = {"world", "all_reduce"};
  Index controlled = 0;
  for (int stage = 0; stage < job.dims.pp; ++stage) {
    Volumes sent = all_sent[stage];
    controlled += sent[control];
    sent.erase(control);
    const Volumes closed = closed_volumes(job, stage);
    for (const auto& [key, bytes] : closed) {
      CAPTURE(key.first);
      CAPTURE(key.second);
      CHECK(sent[key] == e.steps * bytes);
    }
    CHECK(sent.size() == closed.size());
  }
  CHECK(controlled == e.steps * closed_control_volume(job));
}

void check(const Experiment& e) {
  CAPTURE(name_of(e));
  const Outcome outcome = train(e, kernels::make_reference_ops);
  REQUIRE(outcome.failure == "");
  check_mathematics(outcome, one_rank());
  CHECK(outcome.broken_promises == std::vector<std::string>{});
  check_volumes(e, outcome.sent);
}

}  // namespace

TEST_CASE("combinations: gradients and losses of one rank and the bytes of the closed formulas") {
  const auto experiments = combinations({.steps = std::min(full_run, 3)});
  if (full_run == 30) CHECK(experiments.size() >= 40);
  for (const Experiment& e : experiments) check(e);
}

TEST_CASE("combinations: planned bytes of bf16 are those of the closed formulas") {
  for (const auto gradients :
       {engine::GradientTransport::sums, engine::GradientTransport::values}) {
    for (Experiment e : combinations({.dtype = kernels::DType::bf16, .steps = 1})) {
      e.context_parallel.gradients = gradients;
      CAPTURE(name_of(e));
      check_volumes(e, planned(e));
    }
  }
}

TEST_CASE("combinations: thirty losses") {
  const Outcome& one = one_rank();
  if (full_run == 30) CHECK(one.losses.back() < one.losses.front());
  for (const Experiment& e : few_combinations({})) check(e);
}

}  // namespace cpplan::test
