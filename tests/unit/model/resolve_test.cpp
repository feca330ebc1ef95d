#include "model/resolve.hpp"

#include <doctest/doctest.h>

#include "support/give.hpp"

using namespace cpplan;

namespace {

config::TrainingConfig dimensions_given() {
  config::TrainingConfig c;
  c.model.hidden_size.value = 64;
  c.model.num_hidden_layers.value = 2;
  c.model.num_attention_heads.value = 4;
  c.model.intermediate_size.value = 128;
  c.model.vocab_size.value = 256;
  return c;
}

}  // namespace

TEST_CASE("resolve: dimensions of the config make a model") {
  const auto m = model::resolve_model(dimensions_given());
  REQUIRE(m);
  CHECK(m->name == "cpplan.model");
  CHECK(m->num_key_value_heads == 4);
  CHECK(m->head_dim == 16);
  // 2*(4*64*64 + 3*64*128 + 2*64) + 2*64*256 + 64
  CHECK(model::parameter_count(*m) == 115'008);
}

TEST_CASE("resolve: tied embeddings count once") {
  auto c = dimensions_given();
  c.model.tie_word_embeddings.value = true;
  CHECK(model::parameter_count(*model::resolve_model(c)) == 115'008 - 64 * 256);
}

TEST_CASE("resolve: a value of the config wins over the registry") {
  config::TrainingConfig c;
  test::give(c.model.base_model, "meta-llama/Llama-3.1-8B");
  c.model.num_hidden_layers.value = 3;
  const auto m = model::resolve_model(c);
  REQUIRE(m);
  CHECK(m->num_hidden_layers == 3);
  CHECK(m->hidden_size == 4096);
}

TEST_CASE("resolve: the head dimension follows heads that the config changes") {
  config::TrainingConfig c;
  test::give(c.model.base_model, "meta-llama/Llama-3.1-8B");
  c.model.num_attention_heads.value = 64;
  CHECK(model::resolve_model(c)->head_dim == 64);
}

TEST_CASE("resolve: what is missing stays unknown") {
  config::TrainingConfig c;
  test::give(c.model.base_model, "./models/tiny");
  c.model.num_attention_heads.value = 32;
  c.model.num_key_value_heads.value = 2;
  CHECK_FALSE(model::resolve_model(c));
  CHECK(model::known_dimensions(c).num_key_value_heads == 2);
  CHECK(model::known_dimensions(c).hidden_size == 0);
}

TEST_CASE("resolve: dimensions that no machine counts are refused") {
  for (const Index absurd : {Index{0}, Index{-8}, Index{1} << 40}) {
    CAPTURE(absurd);
    auto c = dimensions_given();
    c.model.intermediate_size.value = absurd;
    CHECK_FALSE(model::resolve_model(c));
  }
  auto c = dimensions_given();
  c.model.hidden_size.value = c.model.intermediate_size.value = Index{1} << 30;
  c.model.num_hidden_layers.value = 1000;
  CHECK_FALSE(model::resolve_model(c));
}

TEST_CASE("resolve: experts of the config are as wide as its MLP unless it says so") {
  auto c = dimensions_given();
  c.model.num_local_experts.value = 4;
  c.model.num_experts_per_tok.value = 2;
  // 2 layers * (4 experts - 1 MLP) * 3*64*128, and routers of 64*4
  const Index dense = 115'008;
  CHECK(model::parameter_count(*model::resolve_model(c)) ==
        dense + 2 * (3 * 3 * 64 * 128 + 64 * 4));
  c.model.moe_intermediate_size.value = 32;
  CHECK(model::parameter_count(*model::resolve_model(c)) ==
        dense + 2 * (4 * 3 * 64 * 32 - 3 * 64 * 128 + 64 * 4));
  c.model.num_experts_per_tok.value = 5;
  CHECK_FALSE(model::resolve_model(c));
}

TEST_CASE("resolve: attention biases of the config count") {
  auto c = dimensions_given();
  c.model.attention_bias.value = true;
  CHECK(model::parameter_count(*model::resolve_model(c)) == 115'008 + 2 * 4 * 64);
}

TEST_CASE("resolve: a model_type that is not known is refused") {
  auto c = dimensions_given();
  test::give(c.model.model_type, "gpt_bigcode");
  CHECK_FALSE(model::resolve_model(c));
  const auto checked = model::check_model_source(c);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().message.find("\"gpt_bigcode\"") != std::string::npos);
  CHECK(checked.error().message.find("llama") != std::string::npos);
}
