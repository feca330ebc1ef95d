#pragma once
// A plan written by hand, for reports to show.
#include "plan/plan.hpp"

namespace cpplan::report {

/// world = tp * cp * pp * dp, sequences of 8 tokens; chunks for cp 1 and 2.
inline plan::Plan sample_plan(layout::ParallelDims dims = {.tp = 2, .cp = 2, .pp = 1, .dp = 2}) {
  plan::Plan plan;
  plan.config.file = "train.yaml";
  plan.config.model.base_model.value = "./it's tiny";
  plan.world.size = dims.world();
  plan.world.source = "--world-size";
  plan.batch.micro_batch_size = 2;
  plan.batch.gradient_accumulation_steps = 4;
  plan.batch.effective_world_size = dims.dp;
  plan.batch.batch_size = 8 * dims.dp;
  plan.batch.sequence_len = 8;
  plan.batch.tokens_per_step = 64 * dims.dp;
  plan.steps.total_num_steps = 9751;
  plan.steps.path = "plain";
  plan.steps.formula = "ceil(52002 * 3 / 16)";
  plan.steps.num_epochs = 3;
  plan.steps.train_rows = 52002;
  plan.steps.warmup_steps = 100;
  plan.steps.learning_rate = 0.0001;
  plan.steps.lr_scheduler = "cosine";
  plan.steps.learning_rates = {{"first step", 1, 1e-6}, {"last step", 9751, 0}};
  plan.layout.dims = dims;
  plan.layout.dp_shard = dims.dp;
  plan.layout.weight_shards = dims.weight_shards();
  plan.layout.weight_replicas = dims.weight_replicas();
  plan.layout.dimensions = {{"tp", dims.tp, "heads", "norms", "all_gather", Bytes{4096}},
                            {"dp", dims.dp, "batch", "weights", "all_reduce", std::nullopt}};
  plan.framework_layout.kind = "contiguous";
  plan.framework_layout.chunks = {{0}, {1}};
  plan.framework_layout.chunk_tokens = 4;
  plan.framework_layout.padded_sequence_len = 8;
  plan.framework_layout.imbalance = 1.5;
  plan.engine_layout.kind = "head_tail";
  plan.engine_layout.chunks = {{0, 3}, {1, 2}};
  plan.engine_layout.chunk_tokens = 2;
  plan.engine_layout.padded_sequence_len = 8;
  plan.engine_memory.emplace();
  plan.engine_memory->parameters = plan.engine_memory->gradients = {1 << 20};
  plan.engine_memory->optimizer = {1 << 21};
  plan.engine_memory->activations = {3 << 20};
  plan.engine_memory->buffers = {512};
  plan.engine_memory->total = {(7 << 20) + 512};
  plan.engine_memory->heaviest_rank = 1;
  plan.engine_memory->peak = *plan.engine_memory;
  plan.engine_memory->peak.activations = {2 << 20};
  plan.engine_memory->peak.buffers = {256};
  plan.engine_memory->peak.total = {(6 << 20) + 256};
  plan.engine_memory->peak_action = "backward";
  plan.engine_memory->peak_layer = 3, plan.engine_memory->peak_micro_batch = 0;
  plan::EngineRankClass alike;
  alike.ranks = 8, alike.bytes = {4096}, alike.messages = 12;
  alike.traffic = {{"tp", "all_gather", {4096}, 12, 4096.0, "4096"}};
  plan.engine_communication = plan::EngineCommunication{{alike}, 0};
  return plan;
}

}  // namespace cpplan::report
