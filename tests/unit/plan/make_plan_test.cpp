#include "plan/make_plan.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "engine/meta_run.hpp"
#include "support/give.hpp"
#include "unit/plan/small_plan.hpp"

using namespace cpplan;
using test::give;
using test::planned;
using test::small_model;
using test::with_degrees;

namespace {

/// What the engine's rank 0 sends over a group.
double sent(plan::Plan plan, std::string_view group) {
  if (!plan.engine_communication) plan::measure_engine(plan);
  REQUIRE_MESSAGE(plan.engine_communication, plan.no_engine);
  Bytes sum;
  for (const auto& row : plan.engine_communication->classes.front().traffic)
    if (row.group == group) sum += row.bytes;
  return static_cast<double>(sum.count);
}

}  // namespace

TEST_CASE("plan: Llama 405B on 16384 ranks as its authors trained it") {
  auto c = with_degrees(8, 16, 16);
  give(c.model.base_model, "meta-llama/Llama-3.1-405B");
  give(c.batch.sequence_len, 131072);
  give(c.parallel.first_stage_layers, 7);
  give(c.parallel.last_stage_layers, 7);
  const auto plan = planned(c, 16384);
  CHECK(plan.layout.dims == layout::ParallelDims{8, 16, 16, 8, true});
  CHECK(plan.layout.weight_shards == 128);
  CHECK(plan.layout.weight_replicas == 128);
  REQUIRE(plan.layout.stage_layers.size() == 16);
  CHECK(plan.layout.stage_layers.front() == 7);
  CHECK(plan.layout.stage_layers[7] == 8);
  CHECK(plan.batch.effective_world_size == 8);
}

TEST_CASE("plan: the engine is measured for 16384 ranks without running them") {
  auto c = with_degrees(8, 16, 16);
  give(c.model.base_model, "meta-llama/Llama-3.1-405B");
  give(c.batch.sequence_len, 131072);
  give(c.batch.gradient_accumulation_steps, 512);
  give(c.parallel.first_stage_layers, 7);
  give(c.parallel.last_stage_layers, 7);
  auto plan = planned(c, 16384);
  plan::measure_engine(plan);
  REQUIRE(plan.engine_memory);
  // About 3e9 parameters in fp32: 8 layers, or 7 and the embedding, over 8 TP ranks.
  CHECK(plan.engine_memory->parameters.count > Index{10} << 30);
  CHECK(plan.engine_memory->parameters.count < Index{14} << 30);
  const auto ring = static_cast<double>(plan.layout.dimensions[1].bytes_per_step->count);
  CHECK(ring == sent(plan, "cp"));
}

TEST_CASE("plan: data parallelism fills what the degrees leave") {
  struct Row {
    Index shard, replicate;  // 0: not given
    bool fsdp;
    Index filled_shard, filled_replicate;
  };
  for (const auto& [shard, replicate, fsdp, filled_shard, filled_replicate] :
       {Row{0, 0, false, 8, 1},
        {4, 0, true, 4, 2},
        {4, 2, true, 4, 2},
        {0, 2, true, 4, 2},
        {0, 8, false, 1, 8},
        {1, 0, true, 8, 1},
        {1, 0, false, 1, 1}}) {
    CAPTURE(shard);
    CAPTURE(replicate);
    auto c = with_degrees(2, 1, 1);
    if (shard > 0) give(c.parallel.dp_shard_size, shard);
    if (replicate > 0) give(c.parallel.dp_replicate_size, replicate);
    if (fsdp) give(c.features.fsdp, true);
    const auto plan = planned(c, 16);
    CHECK(plan.layout.dp_shard == filled_shard);
    CHECK(plan.layout.dp_replicate == filled_replicate);
  }
}

TEST_CASE("plan: any nonsense gives a plan and not a crash") {
  for (const Index n : {Index{-3}, Index{0}, Index{3}, Index{1} << 20, Index{1} << 40,
                        std::numeric_limits<Index>::max(), std::numeric_limits<Index>::min()}) {
    CAPTURE(n);
    auto c = small_model(n, n, n);
    for (auto* setting :
         {&c.batch.micro_batch_size, &c.batch.gradient_accumulation_steps, &c.batch.sequence_len,
          &c.batch.max_steps, &c.optimizer.warmup_steps, &c.parallel.dp_shard_size,
          &c.parallel.dp_replicate_size, &c.parallel.expert_parallel_size,
          &c.parallel.first_stage_layers, &c.model.num_attention_heads})
      give(*setting, n);
    plan::PlanInputs inputs;
    inputs.rows = 1000;
    CHECK(plan::make_plan(c, inputs, {}).world.size >= 1);
    inputs.world_size = n;
    inputs.global_batch = n;
    CHECK(plan::make_plan(c, inputs, {}).batch.effective_world_size >= 1);
  }
  CHECK(plan::make_plan({}, {}, {}).batch.batch_size == 1);
}

TEST_CASE("plan: shrink makes a laptop's job of any layout") {
  auto c = with_degrees(8, 4, 16);
  give(c.model.base_model, "meta-llama/Llama-3.1-405B");
  give(c.batch.sequence_len, 131072);
  plan::PlanInputs inputs;
  inputs.world_size = 512;
  inputs.shrink = true;
  const auto plan = plan::make_plan(c, inputs, {});
  const auto job = plan::make_job(plan);
  REQUIRE(job);
  CHECK(job->model.vocab_size == 256);
  CHECK(job->stage_layers == std::vector<int>(16, 1));
  CHECK(plan.batch.sequence_len == 16 * 4 * 8);
}

TEST_CASE("plan: a schedule gives every stage its chunks of the layers") {
  auto c = small_model(1, 1, 2);
  give(c.run.schedule, "interleaved");
  const auto job = plan::make_job(planned(c, 2));
  REQUIRE(job);
  CHECK(job->virtual_stages == 2);
  CHECK(job->stage_layers == std::vector<int>{1, 1, 1, 1});
  give(c.model.num_hidden_layers, 8);
  give(c.parallel.first_stage_layers, 2);
  const auto uneven = plan::make_job(planned(c, 2));  // 2 and 6 layers, two chunks each
  REQUIRE(uneven);
  CHECK(uneven->stage_layers == std::vector<int>{1, 3, 1, 3});
  give(c.run.virtual_stages, 1);
  CHECK(plan::make_job(planned(c, 2))->virtual_stages == 1);
}

TEST_CASE("plan: a schedule that cannot run says why and what would") {
  const auto refused = [](auto change) {
    auto c = small_model(1, 1, 2);
    give(c.run.schedule, "interleaved");
    change(c);
    const auto job = plan::make_job(planned(c, 2));
    return job ? std::string() : job.error().message;
  };
  using C = config::TrainingConfig;
  CHECK(refused([](C&) {}).empty());
  CHECK(refused([](C& c) { give(c.batch.gradient_accumulation_steps, 3); }) ==
        "3 micro-batches do not fill groups of 2 interleaved stages (in a last group that is not "
        "whole stages would wait for each other). use gradient_accumulation_steps: 4, or "
        "cpplan.run.schedule: 1f1b");
  CHECK(refused([](C& c) { give(c.run.virtual_stages, 3); }).find("virtual_stages: 2") !=
        std::string::npos);
  CHECK(refused([](C& c) { give(c.parallel.pipeline_parallel_size, 1); }).find("1f1b") !=
        std::string::npos);
}

TEST_CASE("plan: windows and cuts of the sequence reach the job") {
  auto c = small_model(1, 2, 1);
  give(c.model.sliding_window, 100);
  give(c.run.sequence_split, "striped");
  const auto plan = planned(c, 2);
  const auto job = plan::make_job(plan);
  REQUIRE(job);
  CHECK(job->attention_window == 100);
  CHECK(job->context_parallel.split == layout::Split::striped);
  CHECK(plan.engine_layout.kind == "striped");
  CHECK(plan.engine_layout.chunk_tokens == 1);
  give(c.model.sliding_window, 512);  // as long as a sequence
  CHECK(plan::make_job(planned(c, 2))->attention_window == 0);
}

TEST_CASE("plan: stripes do not join over some of the ranks") {
  auto c = small_model(1, 4, 1);
  give(c.run.sequence_split, "striped");
  give(c.run.cp_comm_type, "a2a");
  CHECK(plan::make_job(planned(c, 4)));
  give(c.run.cp_comm_type, "a2a+p2p");
  give(c.megatron.hierarchical_context_parallel_sizes, {2, 2});
  const auto job = plan::make_job(planned(c, 4));
  REQUIRE_FALSE(job);
  CHECK(job.error().message.find("use sequence_split: head_tail") != std::string::npos);
  give(c.run.sequence_split, "contiguous");
  CHECK(plan::make_job(planned(c, 4)));
}

TEST_CASE("plan: recomputation follows the framework unless the run says otherwise") {
  auto c = small_model(1, 1, 1);
  const auto recompute = [&] { return plan::make_job(planned(c, 1))->recompute; };
  CHECK(recompute() == engine::Recompute::none);
  give(c.features.gradient_checkpointing, "true");
  CHECK(recompute() == engine::Recompute::full);
  give(c.run.recompute, "selective");
  CHECK(recompute() == engine::Recompute::selective);
}

TEST_CASE("plan: the engine's type follows the framework's switch unless the run says otherwise") {
  const auto type = [](const config::TrainingConfig& c) {
    return plan::make_job(planned(c, 1))->dtype;
  };
  const auto plain = small_model(1, 1, 1);
  CHECK(type(plain) == kernels::DType::f32);
  for (const char* on : {"true", "auto", "full"}) {
    auto c = plain;
    give(c.features.bf16, on);
    CHECK(type(c) == kernels::DType::bf16);
    give(c.run.dtype, "fp32");
    CHECK(type(c) == kernels::DType::f32);
  }
  auto off = plain, megatron = plain, own = plain;
  give(off.features.bf16, "false");
  CHECK(type(off) == kernels::DType::f32);
  give(megatron.megatron.bf16, true);
  CHECK(type(megatron) == kernels::DType::bf16);
  give(own.run.dtype, "bf16");
  CHECK(type(own) == kernels::DType::bf16);
}

TEST_CASE("plan: gradients of keys travel in bf16 if asked") {
  auto c = small_model(1, 2, 1);
  give(c.run.dtype, "bf16");
  const double sums = sent(planned(c, 2), "cp");
  give(c.run.cp_gradient_dtype, "bf16");
  // one hop of keys forward and one backward at 2 bytes; two of their gradients at 4 or at 2
  CHECK(sent(planned(c, 2), "cp") == sums * (1 + 1 + 2) / (1 + 1 + 4));
}

TEST_CASE("plan: a job says why there is none") {
  CHECK_FALSE(plan::make_job(planned(with_degrees(1, 1, 1), 1)));
  const auto layers = plan::make_job(planned(small_model(1, 1, 3), 3));
  REQUIRE_FALSE(layers);
  CHECK(layers.error().message.find("pipeline stages") != std::string::npos);
  auto c = small_model(2, 1, 1);
  c.model.num_attention_heads.value = 12, c.model.head_dim.value = 8;
  c.model.num_key_value_heads.value = 3;
  const auto heads = plan::make_job(planned(c, 2));
  REQUIRE_FALSE(heads);
  CHECK(heads.error().message.find("key-value heads") != std::string::npos);
}

TEST_CASE("plan: closed formulas agree with the meta run of the engine") {
  struct Row {
    Index tp, cp, pp, world;
  };
  for (const auto& [tp, cp, pp, world] : {Row{1, 1, 1, 1},
                                          {2, 1, 1, 2},
                                          {1, 2, 1, 2},
                                          {1, 4, 1, 8},
                                          {1, 1, 2, 4},
                                          {2, 2, 2, 16},
                                          {4, 2, 2, 16}}) {
    CAPTURE(tp);
    CAPTURE(cp);
    CAPTURE(pp);
    auto plan = planned(small_model(tp, cp, pp), world);
    plan::measure_engine(plan);
    const auto bytes = [&](int row) {
      return static_cast<double>(
          plan.layout.dimensions[static_cast<std::size_t>(row)].bytes_per_step->count);
    };
    CHECK(bytes(0) == doctest::Approx(sent(plan, "tp")).epsilon(1e-3));
    CHECK(bytes(1) == sent(plan, "cp"));
    CHECK(bytes(2) == sent(plan, "pp"));
    CHECK(bytes(3) == doctest::Approx(sent(plan, "dp_cp")).epsilon(0.01));
  }
}

TEST_CASE("plan: closed formulas of sharded state agree with the meta run of the engine") {
  auto c = small_model(2, 1, 1);
  const auto closed = [&](const char* sharding) {
    give(c.run.optimizer_sharding, sharding);
    auto plan = planned(c, 16);
    plan::measure_engine(plan);
    const double engine = sent(plan, "dp_shard_cp") + sent(plan, "dp_replicate");
    return std::pair{static_cast<double>(plan.layout.dimensions[3].bytes_per_step->count), engine};
  };
  for (const Index copies : {1, 2}) {
    give(c.parallel.dp_replicate_size, copies);
    give(c.parallel.dp_shard_size, 8 / copies);
    const auto [optimizer, of_engine] = closed("optimizer");
    CHECK(optimizer == doctest::Approx(of_engine).epsilon(0.01));
    const auto [fsdp, saved] = closed("parameters");
    CHECK(saved < fsdp);  // layers that are still there
    CHECK(saved > fsdp / 2);
  }
}

TEST_CASE("plan: memory and traffic of many micro-batches are those of a full run") {
  auto c = small_model(2, 1, 2);
  give(c.batch.gradient_accumulation_steps, 9);
  auto extrapolated = planned(c, 4);
  plan::measure_engine(extrapolated);
  const auto job = *plan::make_job(extrapolated);
  REQUIRE(job.micro_batches == 9);
  const auto full = engine::meta_run(job, {});
  const auto& traffic_of_rank_0 = extrapolated.engine_communication->classes.front().traffic;
  REQUIRE(traffic_of_rank_0.size() == full.traffic.size());
  for (const auto& row : traffic_of_rank_0) {
    const auto& traffic = full.traffic.at({row.group, row.collective});
    CHECK(row.bytes == traffic.sent);
    CHECK(row.messages == traffic.messages);
  }
  CHECK(extrapolated.engine_memory->total >= full.memory.total());
}

TEST_CASE("plan: the heaviest rank carries the head or the most activations") {
  auto plan = planned(small_model(1, 1, 4), 4);
  plan::measure_engine(plan);
  REQUIRE(plan.engine_memory);
  const auto job = *plan::make_job(plan);
  Bytes heaviest;
  for (int stage = 0; stage < 4; ++stage) {
    layout::Coordinates at;
    at[layout::Dim::pp] = stage;
    heaviest = std::max(heaviest, engine::meta_run(job, at).memory.total());
  }
  CHECK(plan.engine_memory->total == heaviest);
}
