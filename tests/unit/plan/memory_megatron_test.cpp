// Megatron's memory against what others measured or published. The formulas have no coefficient
// that these rows could have been used for.
#include <doctest/doctest.h>

#include <cmath>

#include "model/registry.hpp"
#include "plan/make_plan.hpp"
#include "plan/memory.hpp"
#include "support/give.hpp"

using namespace cpplan;

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

struct Degrees {
  Index tp = 1, cp = 1, pp = 1, dp = 1, ep = 1;
};

/// bf16 with the distributed optimizer and sequence parallelism.
config::TrainingConfig megatron(const Degrees& d, Index sequence_len, Index micro_batches) {
  config::TrainingConfig c;
  c.dialect = config::Dialect::megatron;
  c.megatron.form = config::MegatronForm::model_args;
  c.parallel.tensor_parallel_size.value = d.tp;
  c.parallel.context_parallel_size.value = d.cp;
  c.parallel.pipeline_parallel_size.value = d.pp;
  c.parallel.expert_parallel_size.value = d.ep;
  c.parallel.sequence_parallel.value = d.tp > 1;
  c.batch.micro_batch_size.value = 1;
  c.batch.sequence_len.value = sequence_len;
  c.megatron.global_batch_size.value = micro_batches * d.dp;
  c.megatron.bf16.value = true;
  c.megatron.use_distributed_optimizer.value = true;
  return c;
}

void give_llama(config::TrainingConfig& c, const model::ModelSpec& m, Index layers) {
  c.model.hidden_size.value = m.hidden_size;
  c.model.num_hidden_layers.value = layers;
  c.model.num_attention_heads.value = m.num_attention_heads;
  c.model.num_key_value_heads.value = m.num_key_value_heads;
  c.model.intermediate_size.value = m.intermediate_size;
  c.model.vocab_size.value = m.vocab_size;
  c.model.attention_dropout.value = c.model.hidden_dropout.value = 0;
  test::give(c.megatron.normalization, "RMSNorm");
  test::give(c.megatron.position_embedding_type, "rope");
  c.megatron.swiglu.value = c.megatron.untie_embeddings.value = true;
  c.megatron.group_query_attention.value = true;
  c.megatron.add_bias_linear.value = false;
}

plan::FrameworkMemory memory_of(const config::TrainingConfig& c, const Degrees& d) {
  plan::PlanInputs inputs;
  inputs.world_size = d.tp * d.cp * d.pp * d.dp;
  const auto memory = plan::framework_memory(plan::make_plan(c, inputs, {}));
  REQUIRE(memory);
  return *memory;
}

double in_gib(Bytes bytes) {
  return static_cast<double>(bytes.count) / gib;
}

struct Measured {
  const char* model;
  Index layers;
  Degrees degrees;
  Index sequence_len;
  double peak_gib;
};

void print(const Measured& row, const plan::FrameworkMemory& memory) {
  const double error = 100 * (in_gib(memory.total) / row.peak_gib - 1);
  MESSAGE(std::string(row.model) << " L" << row.layers << " tp" << row.degrees.tp << " cp"
                                 << row.degrees.cp << " pp" << row.degrees.pp << " ep"
                                 << row.degrees.ep << " s" << row.sequence_len << ": "
                                 << in_gib(memory.total) << " GiB, measured " << row.peak_gib
                                 << " (" << error << " %), peak in " << memory.peak);
}

}  // namespace

// SimuMax, docs/b200/b200_release_v1.2_summary.md: peak allocated memory on 8 B200.
TEST_CASE("memory: dense models measured on B200 are met within 5 %") {
  for (const Measured& row : {
           Measured{"Llama-3-70B", 12, {1, 1, 2, 4}, 4096, 66.55},
           {"Llama-3-70B", 12, {4, 1, 1, 2}, 4096, 39.07},
           {"Llama-3-70B", 12, {8, 1, 1, 1}, 4096, 28.29},
           {"Llama-3.1-405B", 4, {1, 1, 2, 4}, 4096, 87.08},
           {"Llama-3.1-405B", 4, {2, 1, 1, 4}, 4096, 81.59},
           {"Llama-3-70B", 12, {2, 4, 1, 1}, 32768, 68.43},
           {"Llama-3.1-405B", 4, {1, 8, 1, 1}, 32768, 139.22},
           {"Llama-3-70B", 12, {1, 8, 1, 1}, 131072, 147.99},
       }) {
    auto c = megatron(row.degrees, row.sequence_len, 4);
    give_llama(c, *model::find_model(row.model), row.layers);
    c.megatron.cp_comm_type.value = std::vector<std::string>(1, "a2a");
    const auto memory = memory_of(c, row.degrees);
    print(row, memory);
    CHECK(std::abs(in_gib(memory.total) / row.peak_gib - 1) <= 0.05);
  }
}

namespace {

/// GPT with the shapes of Korthikanti et al.
config::TrainingConfig gpt(Index heads, Index hidden, Index layers, const Degrees& d) {
  auto c = megatron(d, 2048, d.pp > 1 ? 4 * d.pp : 1);
  c.model.num_attention_heads.value = heads;
  c.model.hidden_size.value = hidden;
  c.model.num_hidden_layers.value = layers;
  c.model.vocab_size.value = 51200;
  c.megatron.max_position_embeddings.value = 2048;
  c.megatron.use_distributed_optimizer.value = false;
  test::give(c.megatron.transformer_impl, "local");
  return c;
}

// The paper's tables are of the layers alone.

double states_of_layers(const plan::FrameworkMemory& memory) {
  double bytes = 0;
  for (const auto& term : memory.terms)
    if (term.kind != plan::MemoryKind::activations && term.name.ends_with("of the layers"))
      bytes += static_cast<double>(term.bytes.count);
  return bytes / gib;
}

double activations_of_layers(const plan::FrameworkMemory& memory) {
  double bytes = 0;
  for (const auto& term : memory.terms)
    if (term.kind == plan::MemoryKind::activations && !term.name.ends_with("of the embedding"))
      bytes += static_cast<double>(term.bytes.count);
  return bytes / gib;
}

struct Published {
  const char* name;
  Index heads, hidden, layers, pp, micro_batch_size, virtual_stages;
  double states_gib, whole_gib, selective_gib;
};

constexpr Published korthikanti[] = {
    {"22B", 64, 6144, 48, 1, 4, 1, 45.56, 59.25, 9.56},
    {"175B", 96, 12288, 96, 8, 1, 3, 45.56, 66.84, 12.35},
    {"530B", 128, 20480, 105, 35, 1, 3, 31.64, 114.02, 23.08},
    {"1T", 160, 25600, 128, 64, 1, 1, 32.96, 131.25, 26.56},
};

config::TrainingConfig config_of(const Published& row) {
  auto c = gpt(row.heads, row.hidden, row.layers, {8, 1, row.pp, 1});
  c.batch.micro_batch_size.value = row.micro_batch_size;
  c.megatron.global_batch_size.value = row.micro_batch_size * 4 * row.pp;
  if (row.virtual_stages > 1)
    c.megatron.layers_per_virtual_stage.value = row.layers / row.pp / row.virtual_stages;
  return c;
}

}  // namespace

// arXiv 2205.05198 as calculon's validation.py has it: states and activations of the first stage's
// layers on an A100, without embedding and head.
TEST_CASE("memory: states and activations of Korthikanti et al. are met within 5 %") {
  for (const Published& row : korthikanti) {
    auto c = config_of(row);
    const Degrees degrees{8, 1, row.pp, 1};
    c.parallel.sequence_parallel.value = false;
    const auto whole = memory_of(c, degrees);
    c.parallel.sequence_parallel.value = true;
    test::give(c.megatron.recompute_granularity, "selective");
    const auto selective = memory_of(c, degrees);
    MESSAGE(std::string(row.name) << ": states " << states_of_layers(whole) << " ("
                                  << row.states_gib << "), activations "
                                  << activations_of_layers(whole) << " (" << row.whole_gib
                                  << "), selective " << activations_of_layers(selective) << " ("
                                  << row.selective_gib << ")");
    CHECK(std::abs(states_of_layers(whole) / row.states_gib - 1) <= 0.05);
    CHECK(std::abs(activations_of_layers(whole) / row.whole_gib - 1) <= 0.05);
    CHECK(std::abs(activations_of_layers(selective) / row.selective_gib - 1) <= 0.05);
  }
}

// The paper's figure 7: activations in % of what TP alone keeps.
TEST_CASE("memory: shares of the tensor-parallel baseline of Korthikanti et al.") {
  const double published[][4] = {{66.84, 49.42, 16.18, 7.64},
                                 {62.04, 56.53, 18.49, 8.71},
                                 {58.31, 62.04, 20.27, 9.42},
                                 {58.31, 62.04, 20.27, 9.42}};
  for (std::size_t i = 0; i < std::size(korthikanti); ++i) {
    const Degrees degrees{8, 1, korthikanti[i].pp, 1};
    const auto activations = [&](bool sequence_parallel, const char* recompute) {
      auto c = config_of(korthikanti[i]);
      c.parallel.sequence_parallel.value = sequence_parallel;
      if (*recompute != '\0') test::give(c.megatron.recompute_granularity, recompute);
      return activations_of_layers(memory_of(c, degrees));
    };
    const double baseline = activations(false, "");
    CAPTURE(korthikanti[i].name);
    CHECK(std::abs(100 * activations(true, "") / baseline - published[i][0]) <= 0.5);
    CHECK(std::abs(100 * activations(false, "selective") / baseline - published[i][1]) <= 0.5);
    CHECK(std::abs(100 * activations(true, "selective") / baseline - published[i][2]) <= 0.5);
    CHECK(std::abs(100 * activations(false, "full") / baseline - published[i][3]) <= 0.5);
  }
}

// The same page of SimuMax; expert-parallel rows, printed with their error.
TEST_CASE("memory: DeepSeek measured on B200") {
  for (const Measured& row : {Measured{"DeepSeek-V2", 4, {1, 1, 1, 8, 8}, 4096, 45.63},
                              {"DeepSeek-V2", 4, {1, 1, 2, 4, 4}, 4096, 44.70},
                              {"DeepSeek-V3", 4, {1, 1, 1, 8, 8}, 4096, 104.30},
                              {"DeepSeek-V3", 4, {1, 1, 2, 4, 4}, 4096, 114.00}}) {
    const auto m = *model::find_model(row.model);
    auto c = megatron(row.degrees, row.sequence_len, 4);
    give_llama(c, m, row.layers);
    c.megatron.num_experts.value = m.experts.num_local_experts;
    c.megatron.moe_router_topk.value = m.experts.num_experts_per_tok;
    c.megatron.moe_ffn_hidden_size.value = m.experts.moe_intermediate_size;
    c.megatron.moe_shared_expert_size.value = m.experts.shared_intermediate_size;
    test::give(c.megatron.moe_layer_freq, "([0]*1+[1]*3)");
    c.megatron.multi_latent_attention.value = true;
    c.megatron.q_lora_rank.value = m.latent.q_lora_rank;
    c.megatron.kv_lora_rank.value = m.latent.kv_lora_rank;
    print(row, memory_of(c, row.degrees));
  }
}

// Megatron-LM PR 7220: equal tokens of a rank take equal memory.
TEST_CASE("memory: activations depend on the tokens of a rank alone") {
  const auto of = [](Index cp, Index micro_batch_size) {
    auto c = megatron({1, cp, 1, 1}, 2048, 1);
    give_llama(c, *model::find_model("Llama-3.2-1B"), 4);
    c.batch.micro_batch_size.value = micro_batch_size;
    c.megatron.global_batch_size.value = micro_batch_size;
    return memory_of(c, {1, cp, 1, 1}).activations;
  };
  CHECK(of(2, 4) == of(1, 2));
  CHECK(of(1, 4) == 2 * of(1, 2));
}

TEST_CASE("memory: the heaviest stage is the one with most layers and micro-batches") {
  const Degrees degrees{1, 1, 4, 1};
  auto c = megatron(degrees, 4096, 16);
  give_llama(c, *model::find_model("Llama-3.1-8B"), 32);
  CHECK(memory_of(c, degrees).heaviest_stage == 0);
  test::give(c.megatron.recompute_granularity, "full");
  CHECK(memory_of(c, degrees).heaviest_stage == 3);  // the head and its gradient
  CHECK(memory_of(c, degrees).heaviest_rank == 3);
}

TEST_CASE("memory: interleaving keeps more of the first stage") {
  const Degrees degrees{1, 1, 4, 1};
  auto c = megatron(degrees, 4096, 16);
  give_llama(c, *model::find_model("Llama-3.1-8B"), 32);
  const auto plain = memory_of(c, degrees).activations.count;
  c.megatron.layers_per_virtual_stage.value = 4;
  // 1 + (p - 1)/(p v) = 11/8
  CHECK(memory_of(c, degrees).activations.count == plain / 8 * 11);
}

TEST_CASE("memory: full recomputation by block keeps the other layers whole") {
  const Degrees degrees{1, 1, 1, 1};
  auto c = megatron(degrees, 4096, 1);
  give_llama(c, *model::find_model("Llama-3.2-1B"), 4);
  const auto whole = memory_of(c, degrees).activations.count;
  test::give(c.megatron.recompute_granularity, "full");
  test::give(c.megatron.recompute_method, "block");
  c.megatron.recompute_num_layers.value = 0;
  CHECK(memory_of(c, degrees).activations.count == whole);
  c.megatron.recompute_num_layers.value = 1;
  CHECK(memory_of(c, degrees).activations.count == whole / 4 * 3 + Index{2} * 2048 * 4096);
  test::give(c.megatron.recompute_method, "uniform");
  c.megatron.recompute_num_layers.value = 2;
  CHECK(memory_of(c, degrees).activations.count == Index{2} * 2 * 2048 * 4096);
}

TEST_CASE("memory: the distributed optimizer shares over DP and CP") {
  auto c = megatron({1, 2, 1, 4}, 4096, 1);
  give_llama(c, *model::find_model("Llama-3.2-1B"), 4);
  const auto memory = memory_of(c, {1, 2, 1, 4});
  CHECK(memory.sharding == "distributed optimizer over 8 ranks");
  CHECK(memory.gradients.count == 2 * memory.parameters.count);
  CHECK(memory.optimizer.count == 12 * (memory.parameters.count / 2) / 8);
  c.megatron.use_distributed_optimizer.value = false;
  CHECK(memory_of(c, {1, 2, 1, 4}).optimizer.count == 6 * memory.parameters.count);
}
