// Megatron's three forms: detection, values with their places, and findings about keys.
#include <doctest/doctest.h>

#include "config/dialect.hpp"
#include "config/load.hpp"
#include "config/megatron_schema.hpp"

namespace cpplan::config {
namespace {

const std::string flags =
    "ENV_VARS:\n"
    "  CUDA_DEVICE_MAX_CONNECTIONS: 1\n"
    "MODEL_ARGS:\n"
    "  --num-layers: 12\n"
    "  --micro-batch-size: 4\n"
    "  --seq-length: 1024\n"
    "  --lr: 3e-4\n";  // 7 lines

const std::string nested =
    "language_model:\n"
    "  num_layers: 12\n"
    "  activation_func: swiglu\n"
    "model_parallel:\n"
    "  tensor_model_parallel_size: 2\n"
    "micro_batch_size: 4\n"
    "seq_length: 1024\n";  // 7 lines

const std::string flat =
    "num_layers: 12\n"
    "tensor_model_parallel_size: 2\n"
    "micro_batch_size: 4\n"
    "seq_length: 1024\n";  // 4 lines

std::string ids(const LoadedConfig& loaded) {
  std::string all;
  for (const auto& d : loaded.diagnostics) all += d.id + " " + d.message + "\n";
  return all;
}

TEST_CASE("megatron: the three forms say the same") {
  for (const auto& [text, form] : {std::pair{flags, MegatronForm::model_args},
                                   {nested, MegatronForm::nested},
                                   {flat, MegatronForm::flat}}) {
    CAPTURE(text);
    const LoadedConfig loaded = load_config_text("t", text);
    CHECK(ids(loaded).empty());
    REQUIRE(loaded.config);
    CHECK(loaded.config->dialect == Dialect::megatron);
    CHECK(loaded.config->megatron.form == form);
    CHECK(*loaded.config->model.num_hidden_layers == 12);
    CHECK(*loaded.config->batch.micro_batch_size == 4);
    CHECK(*loaded.config->batch.sequence_len == 1024);
  }
}

TEST_CASE("megatron: a value keeps its place and the spelling of its key") {
  const auto of_flags = load_config_text("t", flags).config->batch.sequence_len;
  CHECK(of_flags.key == "--seq-length");
  CHECK(of_flags.span == diag::Span{"t", 6, 17, 6, 21});
  CHECK(of_flags.key_span == diag::Span{"t", 6, 3, 6, 15});
  const auto config = *load_config_text("t", nested).config;
  CHECK(config.parallel.tensor_parallel_size.key == "model_parallel.tensor_model_parallel_size");
  CHECK(config.parallel.tensor_parallel_size.span == diag::Span{"t", 5, 31, 5, 32});
  CHECK(config.megatron.swiglu.value_or(false));
  CHECK(*load_config_text("t", flags).config->megatron.cuda_device_max_connections == "1");
}

TEST_CASE("megatron: lists are read from lists and from the words of a flag") {
  const std::string wide = flags +
                           "  --hierarchical-context-parallel-sizes: 2 4\n"
                           "  --recompute-modules: \"[mlp moe_act]\"\n"
                           "  --cp-comm-type: a2a+p2p\n";
  const auto m = load_config_text("t", wide).config->megatron;
  CHECK(*m.hierarchical_context_parallel_sizes == std::vector<Index>{2, 4});
  CHECK(*m.recompute_modules == std::vector<std::string>{"mlp", "moe_act"});
  CHECK(*m.cp_comm_type == std::vector<std::string>{"a2a+p2p"});
  const auto n = load_config_text("t", nested + "rampup_batch_size: [32, 16, 1000]\n").config;
  CHECK(*n->megatron.rampup_batch_size == std::vector<Index>{32, 16, 1000});
}

TEST_CASE("megatron: a flag that switches off is the opposite of its setting") {
  const auto m = load_config_text("t", flags +
                                           "  --disable-bias-linear: true\n"
                                           "  --no-overlap-p2p-communication: true\n"
                                           "  --recompute-activations: true\n")
                     .config->megatron;
  CHECK(*m.add_bias_linear == false);
  CHECK(*m.overlap_p2p == false);
  CHECK(*m.recompute_granularity == "selective");
}

struct Wrong {
  std::string name, text;
  std::string_view id;
  int line, column, end_column;
};

TEST_CASE("megatron: one finding for one mistake at its place") {
  const Wrong table[] = {
      {"misspelled flag", flags + "  --global-batchsize: 8\n", "CP101", 8, 3, 21},
      {"misspelled key", nested + "global_batchsize: 8\n", "CP101", 8, 1, 17},
      {"axolotl's name as a flag", flags + "  --sequence-len: 8\n", "CP103", 8, 3, 17},
      {"axolotl's name", flat + "gradient_accumulation_steps: 8\n", "CP103", 5, 1, 28},
      {"gone flag", flags + "  --model-parallel-size: 8\n", "CP114", 8, 3, 24},
      {"key of a section at the top", nested + "context_parallel_size: 2\n", "CP124", 8, 1, 22},
      {"key beside MODEL_ARGS", flags + "global_batch_size: 8\n", "CP124", 8, 1, 18},
      {"flag with underscores", flags + "  --global_batch_size: 8\n", "CP125", 8, 3, 22},
      {"flag without dashes", flags + "  global-batch-size: 8\n", "CP125", 8, 3, 20},
      {"wrong type", flags + "  --global-batch-size: many\n", "CP104", 8, 24, 28},
      {"unknown choice", flat + "lr_decay_style: cosines\n", "CP112", 5, 17, 24},
      {"zero micro-batch", "num_layers: 2\nseq_length: 8\nmicro_batch_size: 0\n", "CP119", 3, 19,
       20},
  };
  for (const Wrong& row : table) {
    CAPTURE(row.name);
    const LoadedConfig loaded = load_config_text("t", row.text);
    CAPTURE(ids(loaded));
    REQUIRE(loaded.diagnostics.size() == 1);
    const auto& d = loaded.diagnostics[0];
    CHECK(d.id == row.id);
    CHECK(d.span == diag::Span{"t", row.line, row.column, row.line, row.end_column});
  }
}

TEST_CASE("megatron: suggestions are spelled as the form spells") {
  CHECK(ids(load_config_text("t", flags + "  --global-batchsize: 8\n"))
            .find("did you mean \"--global-batch-size\"") != std::string::npos);
  CHECK(ids(load_config_text("t", nested + "global_batchsize: 8\n"))
            .find("did you mean \"global_batch_size\"") != std::string::npos);
}

TEST_CASE("megatron: what it cannot do without is required") {
  const LoadedConfig loaded = load_config_text("t", "MODEL_ARGS:\n  --seq-length: 8\n");
  CHECK(ids(loaded).find("--micro-batch-size is required") != std::string::npos);
  CHECK(ids(loaded).find("--num-layers is required") != std::string::npos);
}

TEST_CASE("megatron: the sorted table finds every key and the switches of each") {
  for (const MegatronKey& key : megatron_keys()) {
    CAPTURE(key.info.name);
    CHECK(find_megatron_key(key.info.name) == &key);
  }
  CHECK(megatron_keys().size() > 900);
  CHECK(find_megatron_key("no_rope_fusion") != nullptr);
  CHECK(find_megatron_key("no_num_layers") == nullptr);  // no switch
  CHECK(find_megatron_key("num_layer") == nullptr);
}

TEST_CASE("dialect: told by the keys and forced from outside") {
  const std::string axolotl = "base_model: m\ntensor_model_parallel_size: 2\nnum_layers: 3\n";
  CHECK(load_config_text("t", axolotl).config->dialect == Dialect::axolotl);
  CHECK(load_config_text("t", "name: x\nsave: y\nload: z\n").diagnostics[0].id == "CP118");
  LoadOptions forced;
  forced.dialect = Dialect::megatron;
  CHECK(load_config_texts({"t", "micro_batch_size: 2\n"}, {}, forced).config->dialect ==
        Dialect::megatron);
  CHECK(load_config_text("t", "micro_batch_size: 2\n").config->dialect == Dialect::axolotl);
}

TEST_CASE("megatron: an override by its bare name lands where the form has the key") {
  for (const std::string& text : {flags, nested, flat}) {
    CAPTURE(text);
    const Override set[] = {{"seq_length", "2048"}, {"context_parallel_size", "2"}};
    const LoadedConfig loaded = load_config_text("t", text, set);
    CHECK(ids(loaded).empty());
    CHECK(*loaded.config->batch.sequence_len == 2048);
    CHECK(*loaded.config->parallel.context_parallel_size == 2);
    CHECK(loaded.config->batch.sequence_len.origin() == "--set");
    CHECK(loaded.config->batch.micro_batch_size.origin() == "t");
  }
}

}  // namespace
}  // namespace cpplan::config
