#include <doctest/doctest.h>

#include <algorithm>

#include "model/registry.hpp"
#include "plan/make_plan.hpp"
#include "plan/memory.hpp"
#include "plan/memory_terms.hpp"
#include "support/give.hpp"

using namespace cpplan;
using plan::MemoryKind;

namespace {

// 2*(4*64*64 + 3*64*128 + 2*64) + 2*64*256 + 64
constexpr Index parameters = 115'008;

config::TrainingConfig small() {
  config::TrainingConfig c;
  c.model.hidden_size.value = 64;
  c.model.num_hidden_layers.value = 2;
  c.model.num_attention_heads.value = 4;
  c.model.intermediate_size.value = 128;
  c.model.vocab_size.value = 256;
  c.batch.sequence_len.value = 512;
  c.batch.micro_batch_size.value = 1;
  return c;
}

plan::Plan plan_of(const config::TrainingConfig& c, Index world) {
  plan::PlanInputs inputs;
  inputs.world_size = world;
  auto plan = plan::make_plan(c, inputs, {});
  plan::estimate_framework_memory(plan);
  return plan;
}

plan::FrameworkMemory memory_of(const config::TrainingConfig& c, Index world) {
  const auto memory = plan_of(c, world).framework_memory;
  REQUIRE(memory);
  return *memory;
}

Index bytes_of(const plan::FrameworkMemory& memory, std::string_view term) {
  const auto found = std::ranges::find(memory.terms, term, &plan::MemoryTerm::name);
  return found == memory.terms.end() ? 0 : found->bytes.count;
}

}  // namespace

TEST_CASE("memory: one GPU keeps everything in bf16") {
  const auto memory = memory_of(small(), 1);
  CHECK(memory.framework == "axolotl");
  CHECK(memory.parameters.count == 2 * parameters);
  CHECK(memory.gradients.count == 2 * parameters);
  CHECK(memory.optimizer.count == 4 * parameters);
  CHECK(memory.trainable_parameters == parameters);
}

TEST_CASE("memory: the terms add up and the largest comes first") {
  const auto memory = memory_of(small(), 4);
  Bytes sum;
  for (const auto& term : memory.terms) {
    CHECK(term.bytes.count > 0);
    CHECK_FALSE(term.formula.empty());
    sum += term.bytes;
  }
  CHECK(sum == memory.total);
  CHECK(memory.total == memory.parameters + memory.gradients + memory.optimizer +
                            memory.activations + memory.transient);
  CHECK(std::ranges::is_sorted(memory.terms, std::ranges::greater(), &plan::MemoryTerm::bytes));
}

TEST_CASE("memory: DDP copies gradients into buckets") {
  CHECK(memory_of(small(), 4).gradients.count == 2 * 2 * parameters);
}

TEST_CASE("memory: FSDP shares fp32 weights gradients and states over all ranks") {
  auto c = small();
  c.features.fsdp.value = true;
  const auto memory = memory_of(c, 8);
  CHECK(memory.sharding == "FSDP over 8 ranks");
  CHECK(memory.parameters.count == 4 * parameters / 8);
  CHECK(memory.gradients.count == 4 * parameters / 8);
  CHECK(memory.optimizer.count == 8 * parameters / 8);
  // two layers and the root in bf16
  const Index layer = 4 * 64 * 64 + 3 * 64 * 128 + 2 * 64, root = 2 * 64 * 256 + 64;
  CHECK(bytes_of(memory, "gathered layers") == 2 * 2 * layer);
  CHECK(bytes_of(memory, "gathered embedding and head") == 2 * root);
}

TEST_CASE("memory: FSDP shares over context parallelism too and not over replicas") {
  auto c = small();
  c.features.fsdp.value = true;
  c.parallel.context_parallel_size.value = 2;
  c.parallel.dp_shard_size.value = 2;
  c.parallel.dp_replicate_size.value = 2;
  CHECK(memory_of(c, 8).parameters.count == 4 * parameters / 4);
}

TEST_CASE("memory: FSDP that does not reshard keeps all layers") {
  auto c = small();
  c.features.fsdp.value = true;
  c.features.fsdp_reshard_after_forward.value = false;
  const Index layers = 2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64);
  CHECK(bytes_of(memory_of(c, 8), "gathered weights of all layers") == 2 * layers);
}

TEST_CASE("memory: every ZeRO stage shares one thing more") {
  const auto at = [](const char* config) {
    auto c = small();
    c.features.deepspeed.value = true;
    test::give(c.features.deepspeed_config, config);
    const auto memory = memory_of(c, 8);
    return std::array{memory.parameters.count, memory.gradients.count, memory.optimizer.count};
  };
  using Three = std::array<Index, 3>;
  CHECK(at("deepspeed_configs/zero1.json") ==
        Three{2 * parameters, 2 * parameters, 12 * parameters / 8});
  CHECK(at("deepspeed_configs/zero2.json") ==
        Three{2 * parameters, 2 * parameters / 8, 12 * parameters / 8});
  CHECK(at("deepspeed_configs/zero3_bf16.json") ==
        Three{2 * parameters / 8, 2 * parameters / 8, 12 * parameters / 8});
  CHECK(at("deepspeed_configs/zero3_bf16_cpuoffload_all.json") == Three{0, 0, 0});
}

TEST_CASE("memory: 8-bit optimizers keep two bytes a parameter") {
  auto c = small();
  for (const char* optimizer : {"adamw_8bit", "paged_adamw_8bit", "adamw_bnb_8bit"}) {
    test::give(c.optimizer.optimizer, optimizer);
    CHECK(memory_of(c, 1).optimizer.count == 2 * parameters);
  }
  test::give(c.optimizer.optimizer, "sgd");
  CHECK(memory_of(c, 1).optimizer.count == 0);
}

TEST_CASE("memory: LoRA trains rank times inputs and outputs in fp32") {
  auto c = small();
  test::give(c.features.adapter, "lora");
  c.adapter.lora_r.value = 8;
  c.adapter.lora_target_modules.value = std::vector<std::string>{"q_proj", "down_proj"};
  const Index trained = 2 * 8 * ((64 + 64) + (128 + 64));
  const auto memory = memory_of(c, 1);
  CHECK(memory.trainable_parameters == trained);
  CHECK(memory.parameters.count == 2 * parameters + 4 * trained);
  CHECK(memory.gradients.count == 4 * trained);
  CHECK(memory.optimizer.count == 8 * trained);
}

TEST_CASE("memory: Llama 8B has the 41943040 adapter weights that PEFT prints for rank 16") {
  plan::Adapter adapter;
  adapter.rank = 16;
  const auto layer = plan::adapter_parameters(*model::find_model("Llama-3.1-8B"), adapter,
                                              model::LayerKind::dense);
  CHECK(32 * *layer.value() == 41'943'040);
}

TEST_CASE("memory: QLoRA packs linear layers into half a byte and its scales") {
  auto c = small();
  test::give(c.features.adapter, "qlora");
  c.features.load_in_4bit.value = true;
  c.adapter.lora_r.value = 8;
  const Index linear = 2 * (4 * 64 * 64 + 3 * 64 * 128);
  const auto memory = memory_of(c, 1);
  CHECK(bytes_of(memory, "quantized weights") == linear / 2 + linear / 64 + linear / 4096);
  CHECK(bytes_of(memory, "weights that are frozen") == 2 * (parameters - linear));
}

TEST_CASE("memory: gradient checkpointing keeps the inputs of layers and one layer") {
  auto c = small();
  const auto whole = memory_of(c, 1);
  test::give(c.features.gradient_checkpointing, "true");
  const auto recomputed = memory_of(c, 1);
  CHECK(recomputed.activations.count == 2 * 2 * 64 * 512);
  CHECK(recomputed.activations < whole.activations);
  test::give(c.features.gradient_checkpointing, "offload");
  CHECK(memory_of(c, 1).activations.count == 0);
}

TEST_CASE("memory: a layer of Llama keeps ten hidden widths and six MLP widths a token") {
  // bytes a token and layer: 10h + 2(q + k + v) - 0, 6f, and a log-sum-exp of 4 a head
  const Index token = 10 * 64 + 2 * 3 * 64 + 6 * 128 + 4 * 4;
  CHECK(memory_of(small(), 1).activations.count == 2 * token * 512);
}

TEST_CASE("memory: a fused loss makes no logits") {
  auto c = small();
  c.model.vocab_size.value = 32768;
  const auto whole = memory_of(c, 1);
  CHECK(whole.peak == "loss");
  CHECK(bytes_of(whole, "logits, their fp32 copy and its gradient") == 10 * 32768 * 512);
  CHECK(plan_of(c, 1).logits_fp32_bytes_per_rank == Bytes{4 * 32768 * 512});
  c.features.cut_cross_entropy.value = true;
  CHECK(bytes_of(memory_of(c, 1), "logits, their fp32 copy and its gradient") == 0);
  CHECK_FALSE(plan_of(c, 1).logits_fp32_bytes_per_rank);
}

TEST_CASE("memory: the plug-in of Cut Cross-Entropy is on where it is listed") {
  auto c = small();
  c.features.plugins.value =
      std::vector<std::string>(1, "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin");
  CHECK_FALSE(plan_of(c, 1).logits_fp32_bytes_per_rank);
  c.features.cut_cross_entropy.value = false;
  CHECK(plan_of(c, 1).logits_fp32_bytes_per_rank);
}

TEST_CASE("memory: FSDP gathers QLoRA's layers packed") {
  auto c = small();
  test::give(c.features.adapter, "qlora");
  c.adapter.lora_r.value = 8;
  c.features.fsdp.value = true;
  const Index layer = 4 * 64 * 64 + 3 * 64 * 128 + 2 * 64;
  CHECK(bytes_of(memory_of(c, 8), "gathered layers") == 2 * layer / 2);
}

TEST_CASE("memory: a pattern of LoRA targets is counted as all linear layers") {
  auto c = small();
  test::give(c.features.adapter, "lora");
  c.adapter.lora_r.value = 8;
  const auto all = memory_of(c, 1).trainable_parameters;
  c.adapter.lora_target_modules.value =
      std::vector<std::string>(1, "model.layers.[\\d]+.self_attn.(q|k)_proj");
  const auto memory = memory_of(c, 1);
  CHECK(memory.trainable_parameters == all);
  CHECK(std::ranges::any_of(memory.assumptions, [](const std::string& assumption) {
    return assumption.find("pattern") != std::string::npos;
  }));
}

TEST_CASE("memory: logits need the vocabulary alone and shrink with CP") {
  config::TrainingConfig c;
  c.batch.sequence_len.value = 131072;
  c.batch.micro_batch_size.value = 1;
  c.parallel.context_parallel_size.value = 8;
  c.model.vocab_size.value = 128256;
  const auto plan = plan_of(c, 8);
  CHECK_FALSE(plan.framework_memory);
  CHECK(plan.logits_fp32_bytes_per_rank == Bytes{Index{131072} / 8 * 128256 * 4});
}

TEST_CASE("memory: the verdict is against what the GPU leaves") {
  config::TrainingConfig c;
  test::give(c.model.base_model, "meta-llama/Llama-3.1-8B");
  test::give(c.cluster.gpu, "H100");
  c.features.fsdp.value = true;
  c.batch.sequence_len.value = 4096;
  test::give(c.features.gradient_checkpointing, "true");
  CHECK(memory_of(c, 8).fit == plan::Fit::fits);
  CHECK(memory_of(c, 1).fit == plan::Fit::exceeds);
  test::give(c.cluster.gpu, "abacus");
  CHECK(memory_of(c, 8).fit == plan::Fit::unknown);
}

TEST_CASE("memory: dimensions beyond 64 bits give no answer and no crash") {
  auto c = small();
  c.model.hidden_size.value = c.model.intermediate_size.value = Index{1} << 29;
  c.model.vocab_size.value = 1;
  c.batch.micro_batch_size.value = Index{1} << 40;
  CHECK_FALSE(plan_of(c, 1).framework_memory);
}

// ml-engineering, insights/when-to-upgrade-gpus: Llama-3.1-8B on 8 GPUs with ZeRO-3, offloading,
// recomputation, Liger and micro-batches of 1: peaks by sequence length. Printed with their error.
TEST_CASE("memory: Llama 8B with ZeRO-3 and offloading by sequence length") {
  config::TrainingConfig c;
  test::give(c.model.base_model, "meta-llama/Llama-3.1-8B");
  test::give(c.features.gradient_checkpointing, "true");
  test::give(c.features.deepspeed_config, "zero3_bf16_cpuoffload_all.json");
  c.features.deepspeed.value = c.features.cut_cross_entropy.value = true;
  for (const auto& [kilo_tokens, gib] : std::initializer_list<std::pair<Index, double>>{
           {8, 16.3}, {32, 25.8}, {64, 37.5}, {128, 66.5}, {192, 95.7}, {256, 124.5}}) {
    c.batch.sequence_len.value = 1024 * kilo_tokens;
    const double estimate =
        static_cast<double>(memory_of(c, 8).total.count) / (1024.0 * 1024 * 1024);
    MESSAGE(kilo_tokens << "K tokens: " << estimate << " GiB, measured " << gib << " ("
                        << 100 * (estimate / gib - 1) << " %)");
  }
}
