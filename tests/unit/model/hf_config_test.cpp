#include "model/hf_config.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "model/resolve.hpp"
#include "support/give.hpp"

using namespace cpplan;
namespace fs = std::filesystem;

namespace {

/// A folder of a model for the time of a test.
class ModelFolder {
 public:
  explicit ModelFolder(std::string_view config)
      : path_(fs::temp_directory_path() / ("cpplan-hf-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
    std::ofstream(path_ / "config.json") << config;
  }
  ~ModelFolder() { fs::remove_all(path_); }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Result<model::HfModel> read(std::string_view json) {
  return model::model_of_hf_config(*Json::parse(json), "m");
}

config::TrainingConfig with_base_model(const fs::path& path) {
  config::TrainingConfig c;
  test::give(c.model.base_model, path.string());
  return c;
}

constexpr auto qwen2 = R"({"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 2,
  "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 256,
  "tie_word_embeddings": true, "sliding_window": 4096, "use_sliding_window": false,
  "head_dim": null})";

}  // namespace

TEST_CASE("hf config: what the model_type implies is filled in") {
  const auto model = read(qwen2);
  REQUIRE(model);
  CHECK(model->missing.empty());
  CHECK(model->spec.biases.query_key_value);
  CHECK_FALSE(model->spec.biases.attention_output);
  CHECK(model->spec.sliding_window == 0);
  // 2*(64*64*2 + 2*64*32 + 64+32+32 + 3*64*128 + 2*64) + 64*256 + 64
  const auto spec = model::with_derived_dimensions(model->spec);
  CHECK(spec.head_dim == 16);
  CHECK(model::parameter_count(spec) == 90'688);
}

TEST_CASE("hf config: a multi-modal model is its text_config") {
  const auto model = read(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
      "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}})");
  REQUIRE(model);
  CHECK(model->missing.empty());
  CHECK(model->spec.num_attention_heads == 8);
  CHECK(model::parameter_count(model->spec) == 3'880'263'168);
}

TEST_CASE("hf config: missing keys are named all at once") {
  const auto model =
      read(R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4})");
  REQUIRE(model);
  CHECK(model->missing ==
        std::vector<std::string>{"num_hidden_layers", "vocab_size", "intermediate_size"});
}

TEST_CASE("hf config: values of the wrong type are named") {
  const auto model = read(R"({"model_type": "llama", "hidden_size": "64", "vocab_size": 2.5})");
  REQUIRE_FALSE(model);
  CHECK(model.error().message.find("hidden_size is not an integer; vocab_size is not an integer") !=
        std::string::npos);
}

TEST_CASE("hf config: an unknown model_type names those that are known") {
  for (const char* json : {R"({"model_type": "mamba"})", "{}", "[1]"}) {
    CAPTURE(json);
    CHECK_FALSE(read(json));
  }
  CHECK(read(R"({"model_type": "mamba"})").error().message.find("qwen3_moe") != std::string::npos);
}

TEST_CASE("hf config: latent attention and shared experts of DeepSeek-V2-Lite") {
  const auto model = read(R"({"model_type": "deepseek_v2", "hidden_size": 64,
      "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 96, "vocab_size": 100,
      "moe_intermediate_size": 16, "n_routed_experts": 4, "n_shared_experts": 2,
      "num_experts_per_tok": 2, "first_k_dense_replace": 1, "q_lora_rank": null,
      "kv_lora_rank": 24, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8})");
  REQUIRE(model);
  // attention: q 64*2*12, down 64*(24+4) with a norm of 24, up 24*2*16, out 2*8*64; norms 2*64
  const Index attention = 1536 + 1792 + 24 + 768 + 1024 + 128;
  const Index dense = 3 * 64 * 96, routed = 4 * 3 * 64 * 16 + 3 * 64 * 32 + 64 * 4;
  CHECK(model::parameter_count(model->spec) == 2 * attention + dense + routed + 2 * 64 * 100 + 64);
}

TEST_CASE("hf config: a local folder as base_model gives the model") {
  const ModelFolder folder(qwen2);
  auto c = with_base_model(folder.path());
  REQUIRE(model::resolve_model(c));
  CHECK(model::resolve_model(c)->model_type == "qwen2");
  c.model.num_hidden_layers.value = 3;
  CHECK(model::resolve_model(c)->num_hidden_layers == 3);
}

TEST_CASE("hf config: what a folder lacks the config may give") {
  const ModelFolder folder(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
      "num_attention_heads": 4, "intermediate_size": 128})");
  auto c = with_base_model(folder.path());
  CHECK_FALSE(model::resolve_model(c));
  REQUIRE_FALSE(model::check_model_source(c));
  CHECK(model::check_model_source(c).error().message.find("lacks vocab_size") != std::string::npos);
  c.model.vocab_size.value = 256;
  CHECK(model::check_model_source(c));
  CHECK(model::parameter_count(*model::resolve_model(c)) == 115'008);
}

TEST_CASE("hf config: a folder whose file is broken is an error and no crash") {
  for (const char* text : {"", "{", "[]", "{\"model_type\": 3}"}) {
    CAPTURE(text);
    const ModelFolder folder(text);
    CHECK_FALSE(model::check_model_source(with_base_model(folder.path())));
    CHECK_FALSE(model::resolve_model(with_base_model(folder.path())));
  }
}

TEST_CASE("hf config: rotary positions as transformers 4 and 5 write them") {
  const auto with = [](std::string_view rope) {
    return read(std::string(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
      "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 256, )") +
                std::string(rope) + "}");
  };
  const auto four = with(R"("rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3", "factor": 8,
    "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192})");
  const auto five = with(R"("rope_parameters": {"rope_theta": 5e5, "rope_type": "llama3",
    "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192})");
  REQUIRE(four);
  REQUIRE(five);
  CHECK(four->spec == five->spec);
  CHECK(five->spec.rope_theta == 5e5);
  CHECK(five->spec.rope_scaling == model::RopeScaling{.type = "llama3",
                                                      .factor = 8,
                                                      .low_freq_factor = 1,
                                                      .high_freq_factor = 4,
                                                      .original_max_position_embeddings = 8192});
  CHECK(with(R"("rope_scaling": null)")->spec.rope_scaling == model::RopeScaling{});
  CHECK(with(R"("rope_scaling": {"type": "dynamic"})")->spec.rope_scaling.type == "dynamic");
  CHECK(with(R"("rope_parameters": {"full_attention": {"rope_theta": 1e6}})")
            ->spec.rope_scaling.type == "one for each type of layers");
  CHECK(with(R"("rope_parameters": {"partial_rotary_factor": 0.5})")->spec.positions ==
        model::Positions::partly_rotary);
  const auto wrong = with(R"("rope_scaling": {"type": "linear", "factor": "8"})");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("rope_scaling.factor is not a number") != std::string::npos);
}
