// Frequencies of stretched rotary positions against transformers 5.24 (fp32, so nine digits), and
// what cannot be computed.
#include "engine/rotation.hpp"

#include <doctest/doctest.h>

using namespace cpplan;
using model::ModelSpec;
using model::RopeScaling;

namespace {

ModelSpec model_with(Index head_dim, double theta, RopeScaling scaling) {
  ModelSpec m;
  m.head_dim = head_dim;
  m.rope_theta = theta;
  m.max_position_embeddings = 128;
  m.rope_scaling = std::move(scaling);
  return m;
}

void check_frequencies(const ModelSpec& m, const std::vector<double>& expected, double magnitude) {
  const auto rotation = engine::rotation_of(m);
  REQUIRE(rotation.frequencies.size() == expected.size());
  for (std::size_t j = 0; j < expected.size(); ++j)
    CHECK(rotation.frequencies[j] == doctest::Approx(expected[j]).epsilon(1e-6));
  CHECK(rotation.magnitude == doctest::Approx(magnitude).epsilon(1e-12));
}

RopeScaling yarn(double factor, Index original) {
  return {.type = "yarn", .factor = factor, .original_max_position_embeddings = original};
}

std::string why(const ModelSpec& m) {
  return engine::why_no_rotation(m).value_or("");
}

}  // namespace

TEST_CASE("rotation: plain and linear") {
  check_frequencies(model_with(6, 1e6, {}), {1, 0.01, 1e-4}, 1);
  check_frequencies(model_with(8, 1e4, {.type = "linear", .factor = 4}),
                    {0.25, 0.025, 0.0025, 0.00025}, 1);
}

TEST_CASE("rotation: llama3 slows what turns less than once in the original context") {
  const RopeScaling scaling{.type = "llama3",
                            .factor = 8,
                            .low_freq_factor = 1,
                            .high_freq_factor = 4,
                            .original_max_position_embeddings = 8192};
  check_frequencies(model_with(16, 5e5, scaling),
                    {1, 0.193922758, 0.0376060307, 0.00729266508, 0.000524846022, 3.42810235e-05,
                     6.64786967e-06, 1.28917316e-06},
                    1);
}

TEST_CASE("rotation: yarn slows by parts and grows") {
  const std::vector<double> whole = {1,
                                     0.237170815,
                                     0.049999997,
                                     0.00790569466,
                                     0.00249999994,
                                     0.000790569466,
                                     0.000250000012,
                                     7.90569466e-05};
  check_frequencies(model_with(16, 1e4, yarn(4, 128)), whole, 1.138629436111989);
  check_frequencies(model_with(16, 1e4, yarn(4, 0)), whole, 1.138629436111989);
  RopeScaling fractions = yarn(4, 128);
  fractions.truncate = false;
  fractions.beta_fast = 16;
  fractions.attention_factor = 1.5;
  check_frequencies(model_with(16, 1e4, fractions),
                    {1, 0.238408461, 0.0442483015, 0.00790569466, 0.00249999994, 0.000790569466,
                     0.000250000012, 7.90569466e-05},
                    1.5);
  RopeScaling weighted = yarn(40, 4096);
  weighted.mscale = 1;
  weighted.mscale_all_dim = 0.707;
  check_frequencies(model_with(16, 1e4, weighted),
                    {1, 0.316227764, 0.100000001, 0.0239147246, 0.00512499968, 0.000849862176,
                     2.49999994e-05, 7.90569447e-06},
                    1.0857263992561355);
}

TEST_CASE("rotation: what cannot be computed is said") {
  CHECK(why(model_with(8, 1e4, {})).empty());
  CHECK(
      why(model_with(8, 1e4, {.type = "longrope", .factor = 4})) ==
      "its rotary positions are of type \"longrope\" (the engine computes those of types default, "
      "linear, llama3 and yarn). use a model of one of these");
  CHECK(why(model_with(8, 1e4, {.type = "linear"})).starts_with("the factor of its rope_scaling"));
  CHECK(why(model_with(8, 1e4, {.type = "llama3", .factor = 8}))
            .starts_with("its low_freq_factor is 0 and its high_freq_factor 0"));
  CHECK(why(model_with(8, 1, yarn(4, 128))).starts_with("its rope_theta is 1"));
  ModelSpec endless = model_with(8, 1e4, yarn(4, 0));
  endless.max_position_embeddings = 0;
  CHECK(why(endless).starts_with("its rope_scaling has no original_max_position_embeddings"));
}
