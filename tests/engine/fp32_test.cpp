// The same criterion in fp32 on the host kernels, where rounding differs between layouts: gradients
// of step 1 and thirty losses to 1e-5, at a learning rate that does not blow rounding up.
#include <doctest/doctest.h>

#include "engine/layouts.hpp"
#include "kernels/cpu/cpu_ops.hpp"

namespace cpplan::test {
namespace {

const BackendFactory cpu = [](kernels::Trace& trace) { return kernels::make_cpu_ops(trace); };

void check_fp32(bool packing) {
  Experiment base{.dtype = kernels::DType::f32, .packing = packing};
  const Outcome one = train(base, cpu);
  REQUIRE(one.failure == "");
  if (base.steps == 30) CHECK(one.losses.back() < one.losses.front());
  for (const Experiment& experiment : each_layout(base)) {
    CAPTURE(name_of(experiment));
    const Outcome outcome = train(experiment, cpu);
    REQUIRE(outcome.failure == "");
    const auto [gradient_distance, worst_parameter] = distance(outcome.gradients, one.gradients);
    CAPTURE(worst_parameter);
    CHECK(gradient_distance <= 1e-5);
    CHECK(curve_distance(outcome.losses, one.losses) <= 1e-5);
    CHECK(outcome.broken_promises == std::vector<std::string>{});
  }
}

}  // namespace

TEST_CASE("fp32: packed documents with dropout") {
  check_fp32(true);
}
TEST_CASE("fp32: padded rows with dropout") {
  check_fp32(false);
}

}  // namespace cpplan::test
