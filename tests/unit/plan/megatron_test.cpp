// Megatron's batch, stages and vocabulary; and its own functional tests, where they are at hand
// (CPPLAN_CORPUS).
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "base/files.hpp"
#include "config/load.hpp"
#include "plan/make_plan.hpp"
#include "plan/megatron_batch.hpp"
#include "plan/megatron_stages.hpp"

namespace cpplan::plan {
namespace {

namespace fs = std::filesystem;

const std::string model =
    "language_model:\n"
    "  num_layers: 24\n"
    "  hidden_size: 1024\n"
    "  num_attention_heads: 16\n"
    "micro_batch_size: 2\n"
    "seq_length: 4096\n"
    "max_position_embeddings: 4096\n";

Plan plan_of(const std::string& text, Index world_size) {
  const auto loaded = config::load_config_text("t", text);
  REQUIRE(loaded.config);
  PlanInputs inputs;
  inputs.world_size = world_size;
  return make_plan(*loaded.config, inputs, {});
}

TEST_CASE("megatron batch: the global batch defaults to one micro-batch a rank") {
  const Plan plan = plan_of(
      model + "model_parallel: {tensor_model_parallel_size: 2, pipeline_model_parallel_size: 2}\n",
      16);
  CHECK(plan.layout.dims.dp == 4);
  CHECK(plan.megatron->global_batch_size == 8);
  CHECK(plan.batch.gradient_accumulation_steps == 1);
  CHECK(plan.batch.tokens_per_step == 8 * 4096);
}

TEST_CASE("megatron batch: micro-batches fill the global batch and CP takes none of it") {
  const Plan plan =
      plan_of(model + "model_parallel: {context_parallel_size: 2}\nglobal_batch_size: 64\n", 8);
  CHECK(plan.layout.dims.dp == 4);
  CHECK(plan.batch.gradient_accumulation_steps == 8);
  CHECK(plan.batch.batch_size == 64);
  CHECK(plan.framework_layout.kind == "head_tail");
}

TEST_CASE("megatron batch: a rest is dropped on request") {
  const std::string text = model + "model_parallel: {}\nglobal_batch_size: 100\n";
  CHECK(plan_of(text, 8).batch.batch_size == 100);
  const Plan plan = plan_of(text + "decrease_batch_size_if_needed: true\n", 8);
  CHECK(plan.batch.gradient_accumulation_steps == 6);
  CHECK(plan.batch.batch_size == 96);
  CHECK(plan.megatron->global_batch_size == 100);
}

TEST_CASE("megatron schedule: thresholds are tokens and batches have suffixes too") {
  const auto phases = parse_batch_schedule("90B:64, 0:32 1.5K:0.04K", 1000);
  REQUIRE(phases);
  CHECK(*phases == std::vector<BatchPhase>{{0, 32}, {1, 40}, {90'000'000, 64}});
  for (const char* wrong : {"", "32", "5000:32", "0:32 0:64", "0:x", "0:0", "0:-8", "zero:8"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_batch_schedule(wrong, 1000));
  }
}

/// The loop of megatron/training/training.py over the calculator of
/// core/num_microbatches_calculator.py, sample by sample.
Index replayed(Index start, Index increment, Index samples, Index global, Index train) {
  const double part =
      static_cast<double>(samples) / static_cast<double>((global - start) / increment);
  Index consumed = 0, iterations = 0;
  const auto batch_at = [&](Index n) {
    return n > samples ? global
                       : start + static_cast<Index>(static_cast<double>(n) / part) * increment;
  };
  while (consumed + batch_at(consumed) <= train) {
    consumed += batch_at(consumed);
    ++iterations;
  }
  return iterations;
}

TEST_CASE("megatron rampup: as many iterations as the loop of Megatron") {
  for (const Index samples : {7, 30, 96, 97, 1000, 4096})
    for (const Index train : {1, 31, 96, 97, 500, 5000, 12345})
      for (const auto& [start, increment, global] :
           {std::tuple<Index, Index, Index>{8, 8, 32}, {16, 4, 36}, {1, 1, 7}, {3, 5, 28}}) {
        CAPTURE(samples);
        CAPTURE(train);
        CAPTURE(start);
        const auto phases = rampup_phases({start, increment, samples}, global);
        REQUIRE(phases);
        CHECK(iterations_of(*phases, train) == replayed(start, increment, samples, global, train));
      }
  CHECK_FALSE(rampup_phases({8, 8, 100}, 30));   // no whole number of increments
  CHECK_FALSE(rampup_phases({32, 8, 100}, 32));  // nothing to grow
  CHECK_FALSE(rampup_phases({8, 8}, 32));
}

TEST_CASE("megatron vocabulary: padded to a multiple of 128 times TP unless told otherwise") {
  const auto padded = [](const std::string& more, Index tp) {
    return padded_vocab_size(*config::load_config_text("t", model + more).config, tp);
  };
  CHECK(padded("vocab_size: 50257\n", 1) == 50304);
  CHECK(padded("vocab_size: 50257\n", 8) == 51200);
  CHECK(padded("vocab_size: 50304\n", 1) == 50304);
  CHECK(padded("vocab_size: 50257\nmake_vocab_size_divisible_by: 1\n", 2) == 50258);
  CHECK(padded("vocab_size: 50257\npadded_vocab_size: 60000\n", 2) == 60000);
  CHECK_FALSE(padded("", 2));
}

TEST_CASE("megatron layout: a string of layers is read stage by stage") {
  using Stages = std::vector<Index>;
  CHECK(parse_pipeline_layout("Et*3|(tt|)*6mL") == Stages{3, 2, 2, 2, 2, 2, 2, 0});
  CHECK(parse_pipeline_layout("Et|(tt|)*2L") == Stages{1, 2, 2, 0});
  CHECK(parse_pipeline_layout("E|t,t|L") == Stages{0, 2, 0});
  for (const char* wrong : {"Ex|L", "E(tt|*3", "Et*|L", "Et*0|L", "Et*99999999999|L"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_pipeline_layout(wrong));
  }
}

std::vector<int> stages_of(const std::string& more, Index layers, Index stages) {
  const auto loaded = config::load_config_text("t", "MODEL_ARGS:\n  --num-layers: 8\n" + more);
  return megatron_stage_layers(*loaded.config, layers, stages).value_or(std::vector<int>{});
}

TEST_CASE("megatron stages: embedding and loss count as layers where that is asked for") {
  CHECK(stages_of("", 8, 4) == std::vector<int>{2, 2, 2, 2});
  const std::string embedding = "  --account-for-embedding-in-pipeline-split: true\n";
  const std::string loss = "  --account-for-loss-in-pipeline-split: true\n";
  CHECK(stages_of(embedding + loss, 6, 4) == std::vector<int>{1, 2, 2, 1});
  CHECK(stages_of(embedding, 7, 4) == std::vector<int>{1, 2, 2, 2});
  CHECK(stages_of(embedding, 8, 4).empty());
  const std::string uneven =
      "  --decoder-first-pipeline-num-layers: 10\n"
      "  --decoder-last-pipeline-num-layers: 12\n";
  CHECK(stages_of(uneven, 46, 4) == std::vector<int>{10, 12, 12, 12});
  CHECK(stages_of("  --pipeline-model-parallel-layout: Et*3|(tt|)*6L\n", 15, 4) ==
        std::vector<int>{5, 4, 4, 2});
}

TEST_CASE("megatron stages: virtual stages come from any of their three settings") {
  const auto chunks = [](const std::string& more, Index layers, Index stages) {
    const auto loaded = config::load_config_text("t", "MODEL_ARGS:\n  --num-layers: 8\n" + more);
    return virtual_stages(*loaded.config, layers, stages);
  };
  CHECK(chunks("", 8, 4) == 1);
  CHECK(chunks("  --num-layers-per-virtual-pipeline-stage: 1\n", 8, 4) == 2);
  CHECK(chunks("  --num-virtual-stages-per-pipeline-rank: 3\n", 12, 4) == 3);
  CHECK(chunks("  --pipeline-model-parallel-layout: Et*3|(tt|)*6L\n", 15, 4) == 2);
  CHECK_FALSE(chunks("  --num-layers-per-virtual-pipeline-stage: 3\n", 16, 4));
}

TEST_CASE("megatron plan: the bubble shrinks with micro-batches and virtual stages") {
  const std::string pp = model + "model_parallel: {pipeline_model_parallel_size: 8}\n";
  CHECK(*plan_of(pp + "global_batch_size: 2\n", 8).layout.bubble_fraction == 0.875);
  CHECK(*plan_of(pp + "global_batch_size: 112\n", 8).layout.bubble_fraction == 7.0 / 63);
  CHECK(*plan_of(pp + "global_batch_size: 112\nnum_layers_per_virtual_pipeline_stage: 1\n", 8)
             .layout.bubble_fraction == 7.0 / (3 * 56 + 7));
  CHECK_FALSE(plan_of(model + "model_parallel: {}\n", 8).layout.bubble_fraction);
}

TEST_CASE("megatron plan: without flags the world is the least that the degrees need") {
  const auto world = [](const std::string& parallel) {
    const auto loaded = config::load_config_text("t", model + "model_parallel: " + parallel);
    return make_plan(*loaded.config, {}, {}).world.size;
  };
  CHECK(world("{tensor_model_parallel_size: 2, pipeline_model_parallel_size: 2}\n") == 4);
  // Expert ranks are data-parallel ranks: 4 experts' ranks with ETP 2 beside TP 2 need DP 4.
  CHECK(world("{tensor_model_parallel_size: 2, expert_model_parallel_size: 4}\n") == 8);
  CHECK(world("{tensor_model_parallel_size: 2, expert_model_parallel_size: 4, "
              "expert_tensor_parallel_size: 1}\n") == 4);
}

std::vector<std::string> columns_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> columns;
  for (std::string column; std::getline(stream, column, '\t');) columns.push_back(column);
  return columns;
}

TEST_CASE("megatron stages: virtual stages count layers as the ranks that hold them") {
  const std::string deep =
      "num_layers: 16\nhidden_size: 64\nnum_attention_heads: 4\n"
      "pipeline_model_parallel_size: 2\n";
  const auto layers = [&](const std::string& more, Index layers_of_model) {
    const auto loaded = config::load_config_text("t", deep + more);
    REQUIRE(loaded.config);
    return virtual_stage_layers(*loaded.config, layers_of_model, 2, 2).value_or(std::vector<int>{});
  };
  CHECK(layers("", 16) == std::vector<int>{4, 4, 4, 4});
  CHECK(layers("", 18).empty());
  CHECK(layers("decoder_first_pipeline_num_layers: 4\n", 16) == std::vector<int>{2, 6, 2, 6});
  CHECK(layers("account_for_embedding_in_pipeline_split: true\n"
               "account_for_loss_in_pipeline_split: true\n",
               14) == std::vector<int>{3, 4, 4, 3});
  CHECK(layers("pipeline_model_parallel_layout: Ett|ttt|ttt|ttL\n", 10) ==
        std::vector<int>{2, 3, 3, 2});
}

TEST_CASE("corpus: every functional test of Megatron has its batch and its iterations") {
  const char* folder = std::getenv("CPPLAN_CORPUS");
  if (folder == nullptr) {
    std::cerr << "SKIPPED: Megatron's functional tests (CPPLAN_CORPUS is not set)\n";
    return;
  }
  const fs::path megatron = fs::path(folder) / "megatron";
  std::istringstream index(read_file(megatron / "index.tsv").value());
  std::string line;
  std::getline(index, line);
  REQUIRE(line.starts_with("file\tworld_size\ttp\tcp\tpp\tdp\tmicro_batch_size\tglobal"));
  int checked = 0;
  while (std::getline(index, line)) {
    const auto row = columns_of(line);
    CAPTURE(row[0]);
    const Plan plan = plan_of(read_file(megatron / row[0]).value(), std::stol(row[1]));
    CHECK(plan.config.dialect == config::Dialect::megatron);
    CHECK(plan.layout.dims.tp == std::stol(row[2]));
    CHECK(plan.layout.dims.cp == std::stol(row[3]));
    CHECK(plan.layout.dims.pp == std::stol(row[4]));
    CHECK(plan.layout.dims.dp == std::stol(row[5]));
    CHECK(plan.batch.micro_batch_size == std::stol(row[6]));
    CHECK(plan.megatron->global_batch_size == std::stol(row[7]));
    CHECK(plan.batch.gradient_accumulation_steps == std::stol(row[8]));
    if (row.size() > 9 && !row[9].empty()) CHECK(plan.steps.total_num_steps == std::stol(row[9]));
    ++checked;
  }
  CHECK(checked > 100);
}

}  // namespace
}  // namespace cpplan::plan
