// The same criterion in fp32 on the host kernels, where rounding differs between layouts: gradients
// of step 1 and thirty losses to 1e-5, at a learning rate that does not blow rounding up.
#include <doctest/doctest.h>

#include "engine/combinations.hpp"
#include "kernels/cpu/cpu_ops.hpp"

namespace cpplan::test {
namespace {

const BackendFactory cpu = [](kernels::Trace& trace) { return kernels::make_cpu_ops(trace); };

void check_against(const Outcome& one, const Experiment& experiment) {
  CAPTURE(name_of(experiment));
  const Outcome outcome = train(experiment, cpu);
  REQUIRE(outcome.failure == "");
  const auto [gradient_distance, worst_parameter] = distance(outcome.gradients, one.gradients);
  CAPTURE(worst_parameter);
  CHECK(gradient_distance <= 1e-5);
  CHECK(curve_distance(outcome.losses, one.losses) <= 1e-5);
  CHECK(outcome.broken_promises == std::vector<std::string>{});
}

void check_thirty_losses(bool packing) {
  const Experiment base{.dtype = kernels::DType::f32, .packing = packing};
  const Outcome one = train(base, cpu);
  REQUIRE(one.failure == "");
  if (base.steps == 30) CHECK(one.losses.back() < one.losses.front());
  for (const Experiment& experiment : few_combinations(base)) check_against(one, experiment);
}

}  // namespace

TEST_CASE("fp32: gradients of every combination") {
  const Experiment base{.dtype = kernels::DType::f32, .steps = 1};
  const Outcome one = train(base, cpu);
  for (const Experiment& experiment : combinations(base)) check_against(one, experiment);
}

TEST_CASE("fp32: thirty losses of packed documents with dropout") {
  check_thirty_losses(true);
}
TEST_CASE("fp32: thirty losses of padded rows with dropout") {
  check_thirty_losses(false);
}

}  // namespace cpplan::test
