#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "base/failure.hpp"
#include "kernels/cpu/cpu_ops.hpp"
#include "plan/make_plan.hpp"
#include "train/agreement.hpp"
#include "train/in_process.hpp"
#include "train/objections.hpp"
#include "train/step_limit.hpp"

using namespace cpplan;
using namespace cpplan::train;

namespace {

template <class T>
void set(config::Setting<T>& setting, T value) {
  setting.value = std::move(value);
}

/// A tiny model; micro-batches of two samples, two of them a step.
config::TrainingConfig tiny_config() {
  config::TrainingConfig config;
  set(config.model.base_model, std::string("tiny"));
  set(config.model.hidden_size, Index{16});
  set(config.model.num_hidden_layers, Index{2});
  set(config.model.num_attention_heads, Index{2});
  set(config.model.num_key_value_heads, Index{2});
  set(config.model.intermediate_size, Index{32});
  set(config.model.vocab_size, Index{256});
  set(config.batch.sequence_len, Index{32});
  set(config.batch.micro_batch_size, Index{2});
  set(config.batch.gradient_accumulation_steps, Index{2});
  set(config.batch.max_steps, Index{4});
  set(config.optimizer.learning_rate, 1e-3);
  set(config.optimizer.lr_scheduler, std::string("constant"));
  return config;
}

plan::Plan plan_of(const config::TrainingConfig& config, Index world) {
  plan::PlanInputs inputs;
  inputs.world_size = world;
  return plan::make_plan(config, inputs, {});
}

TrainingRun run_of(const config::TrainingConfig& config, Index world) {
  const auto plan = plan_of(config, world);
  const auto data = load_training_data(plan, DataKind::synthetic);
  REQUIRE(data);
  auto run = make_training_run(plan, *data, {});
  REQUIRE_MESSAGE(run, run.error().message);
  return *run;
}

}  // namespace

TEST_CASE("training run: a step takes the next samples whatever the data-parallel degree") {
  const TrainingRun one = run_of(tiny_config(), 1);
  const TrainingRun two = run_of(tiny_config(), 2);
  CHECK(one.samples_per_step() == 4);
  CHECK(two.samples_per_step() == 8);
  std::set<std::uint32_t> firsts;
  for (int micro : {0, 1})
    for (int dp : {0, 1}) firsts.insert(micro_batch(two, 3, micro, dp).first_sample);
  CHECK(firsts == std::set<std::uint32_t>{16, 18, 20, 22});
  CHECK(micro_batch(two, 3, 1, 0).first_sample == 20);  // (micro * DP + dp) * 2
  // Step 2 of one rank's micro-batch 1 is samples 6 and 7, those of two ranks' step 1, micro 1,
  // dp 1.
  CHECK(micro_batch(one, 2, 1, 0).tokens == micro_batch(two, 1, 1, 1).tokens);
}

TEST_CASE("training run: the capacity holds every micro-batch of the run and no more") {
  auto config = tiny_config();
  set(config.batch.sample_packing, true);
  const TrainingRun run = run_of(config, 1);
  Index most = 0;
  for (Index step = 1; step <= run.steps; ++step)
    for (int micro : {0, 1}) {
      const auto batch = micro_batch(run, step, micro, 0);
      most =
          std::max(most, layout::SequenceMap::padded(layout::Split::head_tail, 1, batch.documents,
                                                     engine::rows_multiple(run.job.dims))
                             .rows());
    }
  CHECK(run.job.capacity == most);
}

TEST_CASE("training run: the hash tells runs apart") {
  const TrainingRun run = run_of(tiny_config(), 2);
  CHECK(hash_of(run) == hash_of(run_of(tiny_config(), 2)));
  std::set<std::uint64_t> hashes = {hash_of(run)};
  const auto other = [&](auto change) {
    TrainingRun changed = run;
    change(changed);
    hashes.insert(hash_of(changed));
  };
  other([](TrainingRun& r) { r.job.seed += 1; });
  other([](TrainingRun& r) { r.job.dims.sequence_parallel = true; });
  other([](TrainingRun& r) { r.job.model.attention_dropout = 0.1; });
  other([](TrainingRun& r) { r.learning_rate.base *= 1 + 1e-15; });
  other([](TrainingRun& r) { r.data_hash ^= 1; });
  other([](TrainingRun& r) { r.steps += 1; });
  other([](TrainingRun& r) { r.job.recompute = engine::Recompute::full; });
  other([](TrainingRun& r) {
    r.job.context_parallel.layer_types = {engine::CpCommType::all_gather};
  });
  CHECK(hashes.size() == 9);
}

TEST_CASE("training data: text that is not there is an error that names the flag") {
  auto config = tiny_config();
  CHECK(
      load_training_data(plan_of(config, 1), DataKind::files).error().message.find("--synthetic") !=
      std::string::npos);
  set(config.datasets.emplace_back().path, std::string("tatsu-lab/alpaca"));
  const auto missing = load_training_data(plan_of(config, 1), DataKind::files);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("tatsu-lab/alpaca") != std::string::npos);
  CHECK(missing.error().message.find("--synthetic") != std::string::npos);
}

TEST_CASE("in process: bytes and memory are what the plan says and the loss falls") {
  const TrainingRun run = run_of(tiny_config(), 2);
  std::vector<Index> seen;
  const RunListener listener{.step = [&](const record::StepRecord& s) { seen.push_back(s.step); }};
  const auto record = run_in_process(run, StepLimit(Seconds(30)), listener);
  REQUIRE_MESSAGE(record, record.error().message);
  CHECK(seen == std::vector<Index>{1, 2, 3, 4});
  REQUIRE(record->steps.size() == 4);
  CHECK(record->steps.back().loss < record->steps.front().loss);
  CHECK(record->steps.front().loss == doctest::Approx(5.545).epsilon(0.05));  // ln 256
  CHECK(record->parameters.front().name == "model.embed_tokens.weight");
  double squares = 0;
  for (const auto& parameter : record->parameters)
    squares += parameter.grad_norm * parameter.grad_norm;
  const double norm = record->steps.front().grad_norm;
  CHECK(squares == doctest::Approx(norm * norm).epsilon(1e-9));
  REQUIRE_FALSE(record->communication.empty());
  for (const auto& row : record->communication) CHECK(row.measured == row.planned);
  CHECK(record->memory.measured_peak == record->memory.planned_peak);
}

TEST_CASE("in process: every way to other ranks' keys and recomputation train the same") {
  auto config = tiny_config();
  set(config.parallel.context_parallel_size, Index{2});
  const auto losses = [](const config::TrainingConfig& c) {
    const auto record = run_in_process(run_of(c, 2), StepLimit(Seconds(30)), {});
    REQUIRE_MESSAGE(record, record.error().message);
    for (const auto& row : record->communication) CHECK(row.measured == row.planned);
    CHECK(record->memory.measured_peak == record->memory.planned_peak);
    std::vector<double> curve;
    for (const auto& step : record->steps) curve.push_back(step.loss);
    return curve;
  };
  const auto expected = losses(config);
  for (const char* type : {"all_gather", "a2a"}) {
    set(config.run.cp_comm_type, std::string(type));
    set(config.run.recompute, std::string("full"));
    const auto curve = losses(config);
    REQUIRE(curve.size() == expected.size());
    for (std::size_t i = 0; i < curve.size(); ++i)
      CHECK(curve[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  }
}

TEST_CASE("in process: both levels of a hierarchical all-to-all are measured") {
  auto config = tiny_config();
  set(config.parallel.context_parallel_size, Index{4});
  set(config.run.cp_comm_type, std::string("a2a+p2p"));
  set(config.megatron.hierarchical_context_parallel_sizes, std::vector<Index>{2, 2});
  const auto record = run_in_process(run_of(config, 4), StepLimit(Seconds(30)), {});
  REQUIRE_MESSAGE(record, record.error().message);
  std::set<std::string> groups;
  for (const auto& row : record->communication) {
    CHECK(row.measured == row.planned);
    groups.insert(row.group);
  }
  CHECK(groups.contains("cp_inner"));
  CHECK(groups.contains("cp_outer"));
}

TEST_CASE("training run: heads that all-to-all cannot exchange are refused with another way") {
  auto config = tiny_config();
  set(config.parallel.context_parallel_size, Index{4});
  set(config.run.cp_comm_type, std::string("a2a"));
  const auto plan = plan_of(config, 4);
  const auto run = make_training_run(plan, *load_training_data(plan, DataKind::synthetic), {});
  REQUIRE_FALSE(run);
  CHECK(run.error().message.find("use cp_comm_type: p2p") != std::string::npos);
}

TEST_CASE("in process: a loss that is not finite ends all ranks with one account") {
  TrainingRun run = run_of(tiny_config(), 2);
  run.learning_rate.base = 1e30;
  const auto record = run_in_process(run, StepLimit(Seconds(30)), {});
  REQUIRE_FALSE(record);
  CHECK(record.error().message.find("failed in step") != std::string::npos);
  CHECK(record.error().message.find("not finite: training diverged") != std::string::npos);
  CHECK(record.error().message.find("in this rank's tokens") != std::string::npos);
}

TEST_CASE("agreement: the odd rank is named with the first value that differs") {
  const TrainingRun run = run_of(tiny_config(), 2);
  std::vector<Testimony> ranks(4, {"a", facts_of(run)});
  CHECK_FALSE(disagreement(ranks));
  TrainingRun other = run;
  other.learning_rate.base = 0.125, other.steps += 1;
  ranks[0] = {"b", facts_of(other)};
  const auto found = disagreement(ranks);
  REQUIRE(found);
  CHECK(found->rank == 0);
  CHECK(found->words.find("rank 0 (b) is about to train another run than rank 1 (a): learning_rate "
                          "0.125 against 0.001, and ") == 0);
}

TEST_CASE("agreement: of two ranks the first is right and a value that one lacks is named") {
  std::vector<Testimony> ranks = {{"a", {{"seed", "1"}}}, {"b", {{"seed", "1"}, {"build", "x"}}}};
  const auto found = disagreement(ranks);
  REQUIRE(found);
  CHECK(found->rank == 1);
  CHECK(found->words.find("build x against unknown (") != std::string::npos);
  CHECK(build_of_program().find(CPPLAN_VERSION) == 0);
}

TEST_CASE("step limit: generous at first and then ten times the longest step") {
  StepLimit limit;
  CHECK(limit.of_wait() == Seconds(300));
  limit.learn(Seconds(1));
  CHECK(limit.of_wait() == Seconds(60));
  limit.learn(Seconds(20));
  limit.learn(Seconds(2));
  CHECK(limit.of_wait() == Seconds(200));
  StepLimit fixed(Seconds(3));
  fixed.learn(Seconds(20));
  CHECK(fixed.of_wait() == Seconds(3));
  CHECK(fixed.of_step() > Seconds(200));
}

TEST_CASE("objections: none to what the engine does") {
  auto config = tiny_config();
  for (const char* type : {"p2p", "all_gather", "a2a"}) {
    set(config.run.cp_comm_type, std::string(type));
    CHECK(objections(plan_of(config, 2)).empty());
  }
  set(config.run.recompute, std::string("full"));
  CHECK(objections(plan_of(config, 2)).empty());
  set(config.model.tie_word_embeddings, true);
  set(config.parallel.pipeline_parallel_size, Index{2});
  CHECK(objections(plan_of(config, 2)).empty());
}

TEST_CASE("objections: what the engine cannot do is refused with a value that works") {
  using Kind = Objection::Kind;
  const auto only = [](auto change) {
    auto config = tiny_config();
    change(config);
    const auto found = objections(plan_of(config, 2));
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].help.empty());
    CHECK_FALSE(found[0].why.empty());
    return found[0];
  };
  using C = config::TrainingConfig;
  CHECK(only([](C& c) { set(c.features.rl, std::string("dpo")); }).kind == Kind::refused);
  CHECK(only([](C& c) { set(c.features.multimodal, true); }).kind == Kind::refused);
  CHECK(only([](C& c) { set(c.parallel.expert_parallel_size, Index{2}); }).kind == Kind::refused);
  CHECK(only([](C& c) {
          c.dialect = config::Dialect::megatron;
          set(c.megatron.virtual_stages, Index{2});
        }).message == "the engine does not interleave 2 model chunks of one pipeline stage");
  CHECK(only([](C& c) { set(c.run.optimizer_sharding, std::string("os")); }).kind == Kind::refused);
  CHECK(only([](C& c) { set(c.run.dtype, std::string("fp64")); }).kind == Kind::refused);
  CHECK(only([](C& c) { set(c.run.cp_gradient_dtype, std::string("bf16")); }).kind ==
        Kind::refused);
  CHECK(only([](C& c) { set(c.features.fp16, std::string("true")); }).kind == Kind::replaced);
  CHECK(only([](C& c) { set(c.run.backend, std::string("rocm")); }).kind == Kind::refused);
  CHECK(only([](C& c) { set(c.model.vocab_size, Index{128}); }).kind == Kind::refused);
  CHECK(only([](C& c) { set(c.features.adapter, std::string("lora")); }).kind == Kind::replaced);
  CHECK(only([](C& c) { set(c.features.load_in_4bit, true); }).kind == Kind::replaced);
}

TEST_CASE("objections: sharding that runs otherwise than the framework's is said to be replaced") {
  using C = config::TrainingConfig;
  const auto only = [](auto change) {
    auto config = tiny_config();
    change(config);
    const auto found = objections(plan_of(config, 2));
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == Objection::Kind::replaced);
    CHECK_FALSE(found[0].why.empty());
    return found[0].message;
  };
  const auto deepspeed = [](C& c, const char* name) {
    set(c.features.deepspeed, true);
    set(c.features.deepspeed_config, std::string(name));
  };
  CHECK(only([&](C& c) { deepspeed(c, "zero2.json"); }) ==
        "gradients are scattered with the optimizer's state, once a step");
  CHECK(only([&](C& c) { deepspeed(c, "zero3_bf16_cpuoffload_all.json"); }) ==
        "DeepSpeed's offloading is ignored");
  CHECK(only([&](C& c) { deepspeed(c, "ds.json"); }) ==
        "the ZeRO stage of deepspeed is not known, and nothing is sharded");
  const auto fsdp = [](C& c) { set(c.features.fsdp, true); };
  CHECK(only([&](C& c) {
          fsdp(c);
          set(c.features.fsdp_reshard_after_forward, false);
        }) == "parameters are gathered once for the 2 micro-batches of a step");
  CHECK(only([&](C& c) {
          fsdp(c);
          set(c.features.fsdp_auto_wrap_policy, std::string("SIZE_BASED_WRAP"));
        }).ends_with("SIZE_BASED_WRAP runs layer by layer"));
  auto config = tiny_config();
  fsdp(config);
  CHECK(objections(plan_of(config, 2)).empty());
  deepspeed(config = tiny_config(), "zero1.json");
  CHECK(objections(plan_of(config, 2)).empty());
}
