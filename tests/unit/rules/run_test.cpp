#include <doctest/doctest.h>

#include <algorithm>

#include "unit/rules/sound_config.hpp"

using namespace cpplan;
using namespace cpplan::test;
using diag::Severity;

TEST_CASE("pipeline: 126 layers over 16 stages propose 7 at both ends") {
  auto c = sound();
  give(c.model.base_model, "meta-llama/Llama-3.1-405B", "base_model", 4);
  give(c.batch.gradient_accumulation_steps, 64, "gradient_accumulation_steps", 2);
  give_pp(c, 16);
  const auto findings = check(c, 16);
  const auto& d = only(findings, "CP312");
  CHECK(d.message == "126 layers do not divide over 16 pipeline stages");
  CHECK(says(d,
             "use num_layers_in_first_pipeline_stage: 7 and num_layers_in_last_pipeline_stage: 7"));
  CHECK(says(d, "or pipeline_parallel_size: 2"));  // 14 and 18 do not divide 16 ranks
}

TEST_CASE("pipeline: uneven ends leave an even middle") {
  auto c = sound();
  give(c.model.num_hidden_layers, 46, "num_hidden_layers", 7);
  give(c.parallel.first_stage_layers, 11, "num_layers_in_first_pipeline_stage", 20);
  give(c.parallel.last_stage_layers, 12, "num_layers_in_last_pipeline_stage", 21);
  give_pp(c, 4);
  const auto findings = check(c, 4);
  const auto& d = only(findings, "CP312");
  CHECK(says(d, "23 middle layers, which do not divide over 2 middle stages"));
  CHECK(d.span.line == 20);
  give(c.parallel.first_stage_layers, 10, "num_layers_in_first_pipeline_stage", 20);
  CHECK(check(c, 4).empty());
}

TEST_CASE("pipeline: fewer micro-batches than stages idle") {
  auto c = sound();
  give(c.batch.gradient_accumulation_steps, 1, "gradient_accumulation_steps", 2);
  give_pp(c, 8);
  const auto findings = check(c, 8);
  const auto& d = only(findings, "CP313");
  CHECK(d.severity == Severity::warning);
  CHECK(says(d, "87.5 %"));
}

TEST_CASE("run: steps, warm-up, stream and split") {
  plan::PlanInputs rows;
  rows.rows = 1000;
  auto c = sound();
  CHECK(check(c, 1, rows).empty());
  give(c.batch.max_steps, 2000, "max_steps", 7);
  const auto beyond = check(c, 1, rows);
  CHECK(says(only(beyond, "CP334"), "2000*8/1000 = 16 epochs"));
  give(c.batch.sample_packing, true, "sample_packing", 9);
  plan::PlanInputs tokens;
  tokens.total_tokens = 10'000'000;
  give(c.batch.sample_packing_eff_est, 0.95, "sample_packing_eff_est", 10);
  const auto packed = check(c, 1, tokens);
  CHECK(says(only(packed, "CP334"), "of num_epochs 1"));
  c = sound();
  give(c.batch.max_steps, 10, "max_steps", 7);
  give(c.optimizer.warmup_steps, 10, "warmup_steps", 8);
  const auto warmup = check(c, 1, rows);
  CHECK(only(warmup, "CP331").span.line == 8);
  c = sound();
  give(c.batch.val_set_size, 5000, "val_set_size", 7);
  const auto split = check(c, 1, rows);
  CHECK(only(split, "CP336").span.line == 7);
  c = sound();
  rows.rows = 0;
  const auto none = check(c, 1, rows);
  CHECK(only(none, "CP330").severity == Severity::error);
  give(c.batch.streaming, true, "streaming", 7);
  const auto stream = check(c, 1);
  CHECK(only(stream, "CP333").span.line == 7);
  give(c.batch.max_steps, 10, "max_steps", 8);
  CHECK(check(c, 1).empty());
  give(c.batch.val_set_size, 0.1, "val_set_size", 9);
  const auto stream_split = check(c, 1);
  CHECK(only(stream_split, "CP337").span.line == 9);
}

TEST_CASE("run: a global batch that cannot be had names its neighbours") {
  plan::PlanInputs inputs;
  inputs.global_batch = 100;
  const auto findings = check(sound(), 16, inputs);
  const auto& d = only(findings, "CP320");
  CHECK(says(d, "100 is not divisible by micro 1 * DP 16 = 16"));
  CHECK(says(d, "--global-batch 96 or --global-batch 112"));
  inputs.global_batch = 96;
  CHECK(check(sound(), 16, inputs).empty());
}
