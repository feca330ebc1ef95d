#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "unit/rules/sound_config.hpp"

using namespace cpplan;
using namespace cpplan::test;
using diag::Severity;

TEST_CASE("rules: a sound config has no finding") {
  CHECK(check(sound(), 8).empty());
  auto c = sound();
  give_tp(c, 2);
  give_cp(c, 2);
  give_pp(c, 2);
  give_dp(c, 1);
  CHECK(check(c, 8).empty());
}

TEST_CASE("rules: nothing known breaks no rule") {
  CHECK(check({}, 1).empty());
}

TEST_CASE("world: TP8 CP16 PP16 DP4 on 16384 names all five numbers and the fixes") {
  auto c = sound();
  give(c.model.base_model, "meta-llama/Llama-3.1-405B", "base_model", 4);
  give(c.batch.gradient_accumulation_steps, 64, "gradient_accumulation_steps", 2);
  give(c.batch.sequence_len, 131072, "sequence_len", 3);
  give(c.parallel.first_stage_layers, 7, "num_layers_in_first_pipeline_stage", 20);
  give(c.parallel.last_stage_layers, 7, "num_layers_in_last_pipeline_stage", 21);
  give_tp(c, 8);
  give_cp(c, 16);
  give_pp(c, 16);
  give_dp(c, 4);
  const auto findings = check(c, 16384);
  const auto& d = only(findings, "CP302");
  CHECK(d.message == "TP*CP*PP*DP = 8*16*16*4 = 8,192 ranks, but the world has 16,384");
  CHECK(d.span.line == 13);
  CHECK(says(d, "use data_parallel_size: 8"));
  CHECK(says(d, "or --world-size 8192"));
  CHECK(says(d, "or context_parallel_size: 32"));
  CHECK(d.related.size() == 3);
  give_dp(c, 8);
  CHECK(check(c, 16384).empty());
}

TEST_CASE("world: a degree that divides no such world names the nearest that do") {
  auto c = sound();
  give_tp(c, 4);
  const auto findings = check(c, 6);
  const auto& d = only(findings, "CP304");
  CHECK(says(d, "world size 6 is not divisible by tensor_parallel_size 4"));
  CHECK(says(d, "use tensor_parallel_size: 2"));  // 3 and 6 do not divide 32 heads
  CHECK_FALSE(says(d, "tensor_parallel_size: 3"));
  CHECK(says(d, "--world-size 4 or --world-size 8"));
  CHECK(d.span.line == 10);
}

TEST_CASE("world: degrees that divide alone and not together are one finding") {
  auto c = sound();
  give_tp(c, 4);
  give_cp(c, 4);
  const auto findings = check(c, 8);
  const auto& d = only(findings, "CP304");
  CHECK(says(d, "TP*CP*PP = 4*4*1 = 16"));
  CHECK(says(d, "tensor_parallel_size: 2"));
  CHECK(d.related.size() == 1);
}

TEST_CASE("world: two degrees that do not divide are two findings and DP follows neither") {
  auto c = sound();
  give_tp(c, 8);
  give_cp(c, 16);
  give_dp(c, 3);
  const auto findings = check(c, 12);
  CHECK(findings.size() == 2);
  CHECK(std::ranges::all_of(findings, [](const auto& d) { return d.id == "CP304"; }));
}

TEST_CASE("world: zero counts as one and less is refused") {
  auto c = sound();
  give_cp(c, 0);
  const auto zero = check(c, 8);
  CHECK(only(zero, "CP317").severity == Severity::warning);
  give_cp(c, -2);
  const auto negative = check(c, 8);
  CHECK(only(negative, "CP303").severity == Severity::error);
}

TEST_CASE("data parallel: what the other degrees leave is filled exactly") {
  const auto with = [](Index shard, Index replicate, bool fsdp) {
    auto c = sound();
    if (shard > 0) give(c.parallel.dp_shard_size, shard, "dp_shard_size", 14);
    if (replicate > 0) give(c.parallel.dp_replicate_size, replicate, "dp_replicate_size", 15);
    if (fsdp) give(c.features.fsdp, true, "fsdp_config", 16);
    return c;
  };
  CHECK(check(with(4, 0, true), 8).empty());
  CHECK(check(with(4, 2, true), 8).empty());
  CHECK(check(with(0, 2, true), 8).empty());
  CHECK(check(with(0, 8, false), 8).empty());
  const auto no_fsdp = check(with(4, 0, false), 8);
  CHECK(says(only(no_fsdp, "CP305"), "dp_shard_size 4 needs an fsdp_config"));
  const auto one = check(with(1, 0, false), 8);
  CHECK(says(only(one, "CP306"), "1 != 8"));
  const auto overridden = check(with(1, 0, true), 8);
  CHECK(only(overridden, "CP319").severity == Severity::warning);
  const auto product = check(with(4, 4, true), 8);
  CHECK(says(only(product, "CP306"), "dp_shard_size: 2"));
  const auto rest = check(with(0, 3, true), 8);
  CHECK(only(rest, "CP306").span.line == 15);
  const auto unsharded = check(with(0, 2, false), 8);
  CHECK(only(unsharded, "CP306").span.line == 15);
}

TEST_CASE("data parallel: nothing is left for dp_shard beside CP of the whole world") {
  auto c = sound();
  give_cp(c, 8);
  give(c.parallel.dp_shard_size, 8, "dp_shard_size", 14);
  give(c.features.fsdp, true, "fsdp_config", 16);
  give(c.features.fsdp_version, 2, "fsdp_version", 17);
  const auto findings = check(c, 8);
  const auto& d = only(findings, "CP306");
  CHECK(says(d, "8*8 = 64 ranks, but the world has 8"));
  CHECK(says(d, "remove dp_shard_size"));
}

TEST_CASE("data parallel: replicas beside TP want shards") {
  auto c = sound();
  give_tp(c, 2);
  give(c.parallel.dp_replicate_size, 4, "dp_replicate_size", 15);
  const auto findings = check(c, 8);
  CHECK(says(only(findings, "CP314"), "dp_shard_size: 4"));
}

TEST_CASE("data parallel: experts divide what is left") {
  auto c = sound();
  give(c.model.num_local_experts, 12, "overrides_of_model_config.num_local_experts", 8);
  give(c.parallel.expert_parallel_size, 4, "expert_parallel_size", 17);
  CHECK(check(c, 4).empty());
  give(c.parallel.expert_parallel_size, 3, "expert_parallel_size", 17);
  const auto findings = check(c, 4);
  CHECK(says(only(findings, "CP315"), "use expert_parallel_size: 1 or expert_parallel_size: 4"));
}

TEST_CASE("model: heads against TP") {
  auto c = sound();
  give_tp(c, 3);
  const auto odd = check(c, 3);
  const auto heads = std::ranges::find(odd, "CP307", &diag::Diagnostic::id);
  REQUIRE(heads != odd.end());
  CHECK(says(*heads, "use tensor_parallel_size: 1"));  // the world has 3 ranks
  CHECK(std::ranges::count(odd, "CP308", &diag::Diagnostic::id) == 0);
  give_tp(c, 16);
  const auto copies = check(c, 16);
  const auto& d = only(copies, "CP308");
  CHECK(d.severity == Severity::warning);
  CHECK(says(d, "8*128/16 = 64 columns a rank, half of a head"));
}

TEST_CASE("model: KV heads that neither divide nor multiply TP are an error") {
  auto c = sound();
  give(c.model.num_attention_heads, 24, "num_attention_heads", 7);
  give(c.model.num_key_value_heads, 6, "num_key_value_heads", 8);
  give(c.model.head_dim, 128, "head_dim", 9);
  give_tp(c, 4);
  const auto findings = check(c, 4);
  const auto& d = only(findings, "CP308");
  CHECK(d.severity == Severity::error);
  CHECK(says(d, "use tensor_parallel_size: 2"));
}

TEST_CASE("model: dimensions alone") {
  auto c = sound();
  give(c.model.num_attention_heads, 30, "num_attention_heads", 7);
  give(c.model.num_key_value_heads, 30, "num_key_value_heads", 8);
  const auto hidden = check(c, 1);
  CHECK(says(only(hidden, "CP202"), "hidden_size 4096 is not divisible by 30"));
  give(c.model.num_attention_heads, 32, "num_attention_heads", 7);
  give(c.model.num_key_value_heads, 5, "num_key_value_heads", 8);
  const auto groups = check(c, 1);
  CHECK(says(only(groups, "CP203"), "num_key_value_heads: 4 or num_key_value_heads: 8"));
  give(c.model.num_key_value_heads, -1, "num_key_value_heads", 8);
  const auto negative = check(c, 1);
  CHECK(only(negative, "CP204").span.line == 8);
}

TEST_CASE("model: an unknown name is a note with what was probably meant") {
  auto c = sound();
  give(c.model.base_model, "meta-llama/Llama-3.1-8G", "base_model", 4);
  const auto findings = check(c, 1);
  const auto& d = only(findings, "CP201");
  CHECK(d.severity == Severity::note);
  CHECK(says(d, "Llama-3.1-8B"));
}

TEST_CASE("model: a type that nobody knows is named with those that are") {
  auto c = sound();
  give(c.model.model_type, "lama", "model_type", 5);
  const auto findings = check(c, 8);
  const auto& d = only(findings, "CP201");
  CHECK(d.severity == Severity::warning);
  CHECK(d.span.line == 5);
  CHECK(says(d, "lama"));
}

TEST_CASE("model: all-to-all hands out heads") {
  auto c = sound();
  give(c.run.cp_comm_type, "a2a", "cp_comm_type", 18);
  give_cp(c, 8);
  CHECK(check(c, 8).empty());
  give_cp(c, 16);
  const auto copies = check(c, 16);
  CHECK(only(copies, "CP318").severity == Severity::warning);
}

TEST_CASE("sequence: lengths between multiples of 2 CP are padded with a warning") {
  auto c = sound();
  give_cp(c, 4);
  give(c.batch.sequence_len, 2999, "sequence_len", 3);
  const auto findings = check(c, 4);
  const auto& d = only(findings, "CP301");
  CHECK(d.severity == Severity::warning);
  CHECK(says(d, "2999 is not a multiple of 2*CP = 8 (padded by 1 to 3000)"));
  CHECK(says(d, "sequence_len: 2992 or sequence_len: 3000"));
  CHECK(d.span.line == 3);
  CHECK(d.related[0].span.line == 11);
  c.dialect = config::Dialect::megatron;
  CHECK(only(check(c, 4), "CP301").severity == Severity::error);
}

TEST_CASE("sequence: SP asks for CP lcm of 2 and TP") {
  auto c = sound();
  give_tp(c, 4);
  give_cp(c, 2);
  give(c.batch.sequence_len, 4100, "sequence_len", 3);
  const auto findings = check(c, 8);
  const auto& d = only(findings, "CP309");
  CHECK(says(d, "2*lcm(2, 4) = 8"));
  CHECK(says(d, "sequence_len: 4096 or sequence_len: 4104"));
  give(c.parallel.sequence_parallel, false, "cpplan.run.sequence_parallel", 19);
  CHECK(check(c, 8).empty());
}

TEST_CASE("sequence: CP wants flash attention and one packed row") {
  auto c = sound();
  give_cp(c, 2);
  give(c.features.attn_implementation, "sdpa", "attn_implementation", 6);
  const auto flash = check(c, 2);
  CHECK(says(only(flash, "CP311"), "not \"sdpa\""));
  give(c.features.attn_implementation, "flash_attention_3", "attn_implementation", 6);
  give(c.batch.sample_packing, true, "sample_packing", 19);
  CHECK(check(c, 2).empty());
  give(c.batch.micro_batch_size, 2, "micro_batch_size", 1);
  const auto packed = check(c, 2);
  CHECK(says(only(packed, "CP310"), "micro_batch_size: 1 with gradient_accumulation_steps: 16"));
}

TEST_CASE("rules: nonsense gives findings and not a crash") {
  for (const Index n : {Index{-3}, Index{0}, Index{3}, Index{1} << 40,
                        std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()}) {
    CAPTURE(n);
    auto c = sound();
    for (auto* setting :
         {&c.parallel.tensor_parallel_size, &c.parallel.context_parallel_size,
          &c.parallel.pipeline_parallel_size, &c.parallel.data_parallel_size,
          &c.parallel.dp_shard_size, &c.parallel.dp_replicate_size,
          &c.parallel.expert_parallel_size, &c.parallel.first_stage_layers,
          &c.parallel.last_stage_layers, &c.batch.micro_batch_size, &c.batch.sequence_len,
          &c.batch.gradient_accumulation_steps, &c.batch.max_steps, &c.optimizer.warmup_steps,
          &c.model.hidden_size, &c.model.num_attention_heads, &c.model.num_key_value_heads,
          &c.model.num_hidden_layers}) {
      give(*setting, n, "some_key", 7);
      CHECK(rules::check(plan::make_plan(c, {}, {})).size() < 40);
      CHECK(check(c, n).size() < 40);
      CHECK(check(c, 8).size() < 40);
    }
  }
}

TEST_CASE("rules: every finding says why and what would work") {
  auto c = sound();
  give_tp(c, 5);
  give_cp(c, 3);
  give_pp(c, 7);
  give(c.batch.gradient_accumulation_steps, 1, "gradient_accumulation_steps", 2);
  give(c.parallel.dp_shard_size, 4, "dp_shard_size", 14);
  give(c.features.attn_implementation, "eager", "attn_implementation", 6);
  const auto findings = check(c, 16);
  CHECK(findings.size() >= 7);
  for (const auto& d : findings) {
    CAPTURE(d.id);
    CHECK(d.span.placed());
    CHECK_FALSE(d.why.empty());
    CHECK_FALSE(d.help.empty());
  }
}
