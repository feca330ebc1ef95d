// Random small configs of both dialects, nonsense included: rules answer with findings, each with a
// reason and a suggestion, and never crash.
#include <doctest/doctest.h>

#include <random>

#include "unit/rules/sound_config.hpp"

using namespace cpplan;

namespace {

class RandomConfig {
 public:
  explicit RandomConfig(unsigned seed) : random_(seed) {}

  config::TrainingConfig make() {
    config::TrainingConfig c = test::sound();
    if (flip()) c.dialect = config::Dialect::megatron;
    scatter(c.parallel);
    scatter(c.batch);
    scatter(c.model);
    scatter(c.megatron);
    maybe(c.rl.num_generations);
    maybe(c.features.heads_k_stride);
    if (flip()) test::give(c.features.rl, "grpo", "rl", 30);
    return c;
  }

  Index number() {
    constexpr Index values[] = {-1, 0, 1, 2, 3, 4, 6, 8, 12, 16, 64, 65, 4096, Index{1} << 40};
    return values[random_() % std::size(values)];
  }

 private:
  bool flip() { return random_() % 2 == 0; }

  void maybe(config::Setting<Index>& setting) {
    if (random_() % 4 == 0) test::give(setting, number(), "some_key", 20);
  }
  void maybe(config::Setting<bool>& setting) {
    if (random_() % 4 == 0) test::give(setting, flip(), "some_switch", 21);
  }
  void maybe(config::Setting<std::vector<Index>>& setting) {
    if (random_() % 4 == 0) test::give(setting, {number(), number(), number()}, "some_list", 22);
  }

  void scatter(config::ParallelSettings& p) {
    for (auto* setting :
         {&p.tensor_parallel_size, &p.context_parallel_size, &p.pipeline_parallel_size,
          &p.data_parallel_size, &p.dp_shard_size, &p.dp_replicate_size, &p.expert_parallel_size,
          &p.first_stage_layers, &p.last_stage_layers})
      maybe(*setting);
    maybe(p.sequence_parallel);
  }
  void scatter(config::BatchSettings& b) {
    for (auto* setting : {&b.micro_batch_size, &b.gradient_accumulation_steps, &b.sequence_len,
                          &b.max_steps, &b.eval_batch_size, &b.early_stopping_patience})
      maybe(*setting);
    for (auto* setting : {&b.sample_packing, &b.streaming, &b.pad_to_sequence_len,
                          &b.batch_flattening, &b.sample_packing_sequentially})
      maybe(*setting);
  }
  void scatter(config::ModelSettings& m) {
    for (auto* setting : {&m.num_attention_heads, &m.num_key_value_heads, &m.num_hidden_layers,
                          &m.num_local_experts, &m.max_position_embeddings, &m.vocab_size})
      maybe(*setting);
  }
  void scatter(config::MegatronSettings& m) {
    for (auto* setting :
         {&m.global_batch_size, &m.eval_global_batch_size, &m.train_iters, &m.train_samples,
          &m.layers_per_virtual_stage, &m.virtual_stages, &m.microbatch_group_size, &m.num_experts,
          &m.moe_router_num_groups, &m.expert_tensor_parallel_size, &m.save_interval,
          &m.num_distributed_optimizer_instances, &m.linear_num_key_heads, &m.save_retain_interval})
      maybe(*setting);
    for (auto* setting : {&m.use_torch_fsdp2, &m.use_distributed_optimizer, &m.overlap_param_gather,
                          &m.hybrid_context_parallel, &m.account_for_loss, &m.cpu_offloading,
                          &m.distribute_saved_activations, &m.tp_comm_overlap})
      maybe(*setting);
    maybe(m.hierarchical_context_parallel_sizes);
    maybe(m.rampup_batch_size);
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("rules: random configs get findings with a reason and a suggestion") {
  std::size_t seen = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomConfig random(seed);
    const auto c = random.make();
    const Index world = std::max<Index>(1, random.number() % 4096);
    for (const auto& d : test::check(c, world)) {
      CAPTURE(seed);
      CAPTURE(d.message);
      CHECK_FALSE(d.why.empty());
      CHECK_FALSE(d.help.empty());
      CHECK(d.message.find("{}") == std::string::npos);
      ++seen;
    }
  }
  CHECK(seen > 10000);
}
