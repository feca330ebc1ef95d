#include "model/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "model/resolve.hpp"

using namespace cpplan;

TEST_CASE("registry: parameters are the published ones") {
  struct Published {
    const char* name;
    double parameters, precision;
  };
  // Model cards, in the digits they give.
  for (const auto& [name, parameters, precision] : {
           Published{"Llama-3.1-8B", 8.03e9, 0.005e9},
           {"Llama-3.1-70B", 70.55e9, 0.005e9},
           {"Llama-3.1-405B", 405.85e9, 0.005e9},
           {"Mistral-7B-v0.1", 7.24e9, 0.005e9},
           {"Mistral-7B-v0.3", 7.25e9, 0.005e9},
           {"Llama-3.2-1B", 1.24e9, 0.005e9},
           {"Llama-3.2-3B", 3.21e9, 0.005e9},
           {"Llama-2-7b-hf", 6.74e9, 0.005e9},
           {"Llama-2-13b-hf", 13.02e9, 0.005e9},
           {"Llama-2-70b-hf", 68.98e9, 0.005e9},
           {"TinyLlama-1.1B", 1.1e9, 0.005e9},
       }) {
    CAPTURE(name);
    const auto model = model::find_model(name);
    REQUIRE(model);
    CHECK(std::abs(static_cast<double>(model::parameter_count(*model)) - parameters) <= precision);
  }
}

TEST_CASE("registry: Llama 3.1 8B has 8030261248 parameters to the unit") {
  CHECK(model::parameter_count(*model::find_model("Llama-3.1-8B")) == 8'030'261'248);
}

TEST_CASE("registry: hub ids, copies and letter case lead to the model") {
  for (const char* id :
       {"meta-llama/Llama-3.1-8B", "NousResearch/Meta-Llama-3.1-8B", "META-LLAMA/llama-3.1-8b",
        "meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Meta-Llama-3.1-8B-Instruct"}) {
    CAPTURE(id);
    const auto model = model::find_model(id);
    REQUIRE(model);
    CHECK(model->name == "Llama-3.1-8B");
  }
}

TEST_CASE("registry: a folder is never looked up") {
  CHECK_FALSE(model::find_model("./Llama-3.1-8B"));
  CHECK_FALSE(model::find_model("/models/Llama-3.1-8B"));
  CHECK_FALSE(model::find_model(""));
}

TEST_CASE("registry: a misspelt name is recognised") {
  const auto like = model::models_like("meta-llama/Llama-3.1-8G");
  CHECK(std::ranges::count(like, "Llama-3.1-8B") == 1);
  CHECK(model::models_like("EleutherAI/gpt-neox-20b").empty());
}

TEST_CASE("registry: every entry is whole and consistent") {
  for (const auto& name : model::model_names()) {
    CAPTURE(name);
    const auto m = *model::find_model(name);
    CHECK(m.name == name);
    CHECK(m.num_attention_heads % m.num_key_value_heads == 0);
    CHECK(m.num_attention_heads * m.head_dim == m.hidden_size);
    CHECK(m.max_position_embeddings >= 2048);
  }
}
