#include "model/shrink.hpp"

#include <doctest/doctest.h>

#include "model/registry.hpp"

using namespace cpplan;

TEST_CASE("shrink: the tiny model divides by the degrees") {
  const auto big = *model::find_model("Llama-3.1-405B");
  for (const Index tp : {1, 2, 3, 8, 16})
    for (const Index pp : {1, 2, 7, 16}) {
      CAPTURE(tp);
      CAPTURE(pp);
      const auto tiny = model::shrink(big, {tp, pp});
      CHECK(tiny.num_attention_heads % tp == 0);
      CHECK(tiny.num_key_value_heads % tp == 0);
      CHECK(tiny.num_attention_heads % tiny.num_key_value_heads == 0);
      CHECK(tiny.num_hidden_layers % pp == 0);
      CHECK(tiny.intermediate_size % tp == 0);
      CHECK(tiny.hidden_size == tiny.num_attention_heads * tiny.head_dim);
      CHECK(1000 * model::parameter_count(tiny) < model::parameter_count(big));
    }
}

TEST_CASE("shrink: vocabulary is the bytes and queries stay grouped") {
  const auto tiny = model::shrink(*model::find_model("Llama-3.1-8B"), {2, 2});
  CHECK(tiny.vocab_size == 256);
  CHECK(tiny.num_attention_heads == 2 * tiny.num_key_value_heads);
  CHECK(tiny.rope_theta == 5e5);
  CHECK(tiny.name == "Llama-3.1-8B (shrunk)");
}

TEST_CASE("shrink: plain multi-head attention stays plain") {
  const auto tiny = model::shrink(*model::find_model("Llama-2-7B"), {2, 1});
  CHECK(tiny.num_attention_heads == tiny.num_key_value_heads);
}
