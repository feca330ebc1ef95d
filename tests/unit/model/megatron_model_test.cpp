#include "model/megatron_model.hpp"

#include <doctest/doctest.h>

#include "model/resolve.hpp"
#include "support/give.hpp"

using namespace cpplan;

namespace {

config::TrainingConfig megatron() {
  config::TrainingConfig c;
  c.dialect = config::Dialect::megatron;
  c.megatron.form = config::MegatronForm::model_args;
  c.model.hidden_size.value = 64;
  c.model.num_hidden_layers.value = 2;
  c.model.num_attention_heads.value = 4;
  c.model.vocab_size.value = 256;
  c.megatron.max_position_embeddings.value = 32;
  return c;
}

}  // namespace

TEST_CASE("megatron model: without a word it is GPT") {
  const auto m = model::resolve_model(megatron());
  REQUIRE(m);
  CHECK(m->intermediate_size == 256);
  CHECK(m->hidden_dropout == 0.1);
  // a layer: 4*64*64 + 4*64, 2*64*256 + 256 + 64, two LayerNorms of 2*64
  const Index layer = 4 * 64 * 64 + 4 * 64 + 2 * 64 * 256 + 256 + 64 + 4 * 64;
  CHECK(model::parameter_count(*m) == 2 * layer + 64 * 256 + 64 * 32 + 2 * 64);
}

TEST_CASE("megatron model: SwiGLU without a width takes two thirds of 4h in steps of 64") {
  auto c = megatron();
  c.megatron.swiglu.value = true;
  CHECK(model::resolve_model(c)->intermediate_size == 128);  // 170.67 down to 128
  CHECK(model::resolve_model(c)->mlp == model::Mlp::gated);
}

TEST_CASE("megatron model: flags group queries only on request") {
  auto c = megatron();
  c.model.num_key_value_heads.value = 2;
  CHECK(model::resolve_model(c)->num_key_value_heads == 4);
  c.megatron.group_query_attention.value = true;
  CHECK(model::resolve_model(c)->num_key_value_heads == 2);
  c.megatron.group_query_attention.value.reset();
  c.megatron.form = config::MegatronForm::nested;
  CHECK(model::resolve_model(c)->num_key_value_heads == 2);
}

TEST_CASE("megatron model: a window counts the keys to the left and the query's own") {
  auto c = megatron();
  CHECK(model::resolve_model(c)->sliding_window == 0);
  c.megatron.window_size.value = std::vector<Index>{127, 0};
  CHECK(model::resolve_model(c)->sliding_window == 128);
  CHECK(model::resolve_model(c)->full_attention_interval == 0);
  test::give(c.megatron.window_attn_skip_freq, "4");
  CHECK(model::resolve_model(c)->full_attention_interval == 4);
  c.megatron.window_size.value = std::vector<Index>{-1, 0};
  CHECK(model::resolve_model(c)->sliding_window == 0);
}

TEST_CASE("megatron model: moe_layer_freq is a number or dense layers before routed ones") {
  const auto parsed = [](const char* text) {
    const auto layers = model::parse_moe_layer_freq(text);
    return layers ? std::pair(layers->first_dense_layers, layers->layer_frequency)
                  : std::pair(Index{-1}, Index{-1});
  };
  CHECK(parsed("1") == std::pair(Index{0}, Index{1}));
  CHECK(parsed("2") == std::pair(Index{0}, Index{2}));
  CHECK(parsed("([0]*3+[1]*58)") == std::pair(Index{3}, Index{1}));
  CHECK(parsed("[0] + [1]*15") == std::pair(Index{1}, Index{1}));
  CHECK(parsed("([1]*16)") == std::pair(Index{0}, Index{1}));
  for (const char* text : {"", "0", "-1", "([0,1]*8)", "[0]*x+[1]", "[0]*99999999999999+[1]"})
    CHECK(parsed(text) == std::pair(Index{-1}, Index{-1}));
}

TEST_CASE("megatron model: routed layers are those from the first on that the frequency meets") {
  auto c = megatron();
  c.megatron.num_experts.value = 4;
  c.megatron.moe_ffn_hidden_size.value = 32;
  c.model.num_hidden_layers.value = 5;
  const auto count = [&](const char* frequency) {
    test::give(c.megatron.moe_layer_freq, frequency);
    return model::parameter_count(*model::resolve_model(c));
  };
  // Biases on: an expert has 2*64*32 + 32 + 64, the router 64*4 + 4, the MLP 2*64*256 + 256 + 64.
  const Index more = 4 * (2 * 64 * 32 + 32 + 64) + 64 * 4 + 4 - (2 * 64 * 256 + 256 + 64);
  CHECK(count("1") - count("2") == 2 * more);  // layers 1 and 3
  CHECK(count("1") - count("([0]*3+[1]*2)") == 3 * more);
}

TEST_CASE("megatron model: rotary positions are scaled as Llama 3's or in a line") {
  auto c = megatron();
  CHECK(model::resolve_model(c)->rope_scaling.type == "default");
  c.megatron.rotary_seq_len_interpolation_factor.value = 4.0;
  CHECK(model::resolve_model(c)->rope_scaling.type == "linear");
  CHECK(model::resolve_model(c)->rope_scaling.factor == 4);
  c.megatron.use_rope_scaling.value = true;
  CHECK(model::resolve_model(c)->rope_scaling.type == "llama3");
  CHECK(model::resolve_model(c)->rope_scaling.factor == 8);
  c.megatron.rope_scaling_factor.value = 32.0;
  CHECK(model::resolve_model(c)->rope_scaling.factor == 32);
}
