#include "model/registry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "model/resolve.hpp"

using namespace cpplan;

namespace {

struct Published {
  const char* name;
  double billions;
};

// Sources: the parameter total that the hub shows for a model's safetensors, in the digits below;
// Llama 2 arXiv 2307.09288, Llama 3 2407.21783; Gemma 2 2408.00118 table 2 and Gemma 3 2503.19786
// table 1 (embedding and the rest, added; no vision tower); DeepSeek 2405.04434 and 2412.19437 (no
// multi-token prediction); GPT-OSS 2508.10925 table 1. Qwen3 0.6B and 1.7B without the copy of the
// tied embedding that their files hold.
constexpr Published published[] = {
    {"Llama-2-7B", 6.738},      {"Llama-2-13B", 13.016},     {"Llama-2-70B", 68.977},
    {"Llama-3-8B", 8.030},      {"Llama-3-70B", 70.554},     {"Llama-3.1-8B", 8.030},
    {"Llama-3.1-70B", 70.554},  {"Llama-3.1-405B", 405.853}, {"Llama-3.2-1B", 1.236},
    {"Llama-3.2-3B", 3.213},    {"Llama-3.3-70B", 70.554},   {"TinyLlama-1.1B", 1.100},
    {"Mistral-7B", 7.242},      {"Mistral-7B-v0.2", 7.242},  {"Mistral-7B-v0.3", 7.248},
    {"Mistral-Nemo-12B", 12.2}, {"Mistral-Small-24B", 23.6}, {"Mixtral-8x7B", 46.7},
    {"Mixtral-8x22B", 140.6},   {"Qwen2.5-0.5B", 0.494},     {"Qwen2.5-1.5B", 1.544},
    {"Qwen2.5-3B", 3.086},      {"Qwen2.5-7B", 7.616},       {"Qwen2.5-14B", 14.770},
    {"Qwen2.5-32B", 32.764},    {"Qwen2.5-72B", 72.706},     {"Qwen3-0.6B", 0.596},
    {"Qwen3-1.7B", 1.721},      {"Qwen3-4B", 4.022},         {"Qwen3-8B", 8.191},
    {"Qwen3-14B", 14.768},      {"Qwen3-32B", 32.762},       {"Qwen3-30B-A3B", 30.532},
    {"Qwen3-235B-A22B", 235.1}, {"Gemma-2-2B", 2.614},       {"Gemma-2-9B", 9.242},
    {"Gemma-2-27B", 27.227},    {"Gemma-3-1B", 1.000},       {"Gemma-3-4B", 3.884},
    {"Gemma-3-12B", 11.771},    {"Gemma-3-27B", 27.016},     {"Phi-3-mini", 3.821},
    {"Phi-3-medium", 13.960},   {"Phi-4", 14.660},           {"Phi-4-mini", 3.836},
    {"DeepSeek-V2", 236},       {"DeepSeek-V2-Lite", 15.7},  {"DeepSeek-V3", 671},
    {"GPT-OSS-20B", 20.91},     {"GPT-OSS-120B", 116.83},    {"OLMo-2-1B", 1.485},
    {"OLMo-2-7B", 7.299},       {"OLMo-2-13B", 13.716},      {"OLMo-2-32B", 32.234},
    {"SmolLM2-135M", 0.1345},   {"SmolLM2-360M", 0.3618},    {"SmolLM2-1.7B", 1.711},
    {"Llama-7B", 6.738},        {"Llama-13B", 13.016},       {"CodeLlama-7B", 6.739},
    {"CodeLlama-13B", 13.016},  {"CodeLlama-34B", 33.744},   {"Ministral-8B", 8.020},
    {"Gemma-2B", 2.506},        {"Gemma-7B", 8.538},         {"StarCoder2-3B", 3.030},
    {"StarCoder2-7B", 7.174},   {"SmolLM3-3B", 3.075},       {"Mixtral-8x22B-Instruct-v0.1", 140.6},
};

}  // namespace

TEST_CASE("registry: parameters are within half a percent of the published ones") {
  for (const auto& [name, billions] : published) {
    CAPTURE(name);
    const auto model = model::find_model(name);
    REQUIRE(model);
    const double counted = static_cast<double>(model::parameter_count(*model)) / 1e9;
    CHECK(std::abs(counted / billions - 1) <= 0.005);
  }
}

TEST_CASE("registry: every model has a published count to be held against") {
  for (const auto& name : model::model_names()) {
    CAPTURE(name);
    CHECK(std::ranges::count_if(published, [&](const Published& p) { return p.name == name; }) ==
          1);
  }
  CHECK(model::model_names().size() >= 25);
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
  CHECK(model::models_like("bigscience/bloom").empty());
}

TEST_CASE("registry: every entry is whole and consistent") {
  for (const auto& name : model::model_names()) {
    CAPTURE(name);
    const auto m = *model::find_model(name);
    CHECK(m.name == name);
    CHECK(m.num_attention_heads % m.num_key_value_heads == 0);
    CHECK(m.head_dim >= 1);
    CHECK(m.max_position_embeddings >= 2048);
  }
}

TEST_CASE("registry: only models of Llama's type are for the engine") {
  const auto why = [](const char* name, Index sequence_len) {
    return model::why_not_llama_type(*model::find_model(name), sequence_len).value_or("");
  };
  CHECK(why("Llama-3.1-8B", 8192).empty());
  CHECK(why("SmolLM2-135M", 8192).empty());
  CHECK(why("Mistral-7B", 4096).empty());
  CHECK(why("Mistral-7B", 8192).empty());  // a window in every layer
  CHECK(why("Gemma-3-4B", 8192).find("a sliding window in some of its layers") !=
        std::string::npos);
  CHECK(why("Qwen2.5-7B", 4096) == "it has biases");
  CHECK(why("Qwen3-8B", 4096) == "it has norms of queries and keys");
  CHECK(why("Mixtral-8x7B", 4096) == "it has experts");
  CHECK(why("SmolLM3-3B", 4096) == "it has positions that are not rotary everywhere");
  CHECK(why("OLMo-2-7B", 4096) == "it has norms of queries and keys and norms after its blocks");
  CHECK(why("Gemma-2-2B", 4096).find("scaled or capped") != std::string::npos);
  CHECK(why("DeepSeek-V3", 4096) == "it has experts and latent attention");
}
