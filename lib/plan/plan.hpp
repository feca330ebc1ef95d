#pragma once
// What `cpplan plan` computes of a config: facts with their sources, as data. report/ prints it,
// run executes it.
#include <optional>
#include <string>
#include <vector>

#include "config/training_config.hpp"
#include "diag/diagnostic.hpp"
#include "layout/parallel_dims.hpp"
#include "layout/ranks.hpp"
#include "model/model_spec.hpp"

namespace cpplan::plan {

/// What the command line or the environment adds to the file.
struct PlanInputs {
  std::optional<Index> world_size, nodes, gpus_per_node;
  std::optional<Index> rows;        // as loaded: the validation split is still to be taken off
  std::optional<Index> train_rows;  // what the trainer sees
  std::optional<Index> total_tokens, eval_tokens;  // of the training and the evaluation set
  std::optional<Index> global_batch;
  std::optional<layout::Order> order;
  std::vector<Index> documents;  // tokens of each, of one packed sequence
  bool shrink = false;  // plan for a tiny model and short sequences of the same divisibility
};

struct World {
  Index size = 1;
  std::string
      source;  // "--world-size", "WORLD_SIZE", "cpplan.cluster", "product of the degrees", ...
  std::optional<Index> nodes, gpus_per_node;  // where a source gives them
};

struct Batch {
  Index micro_batch_size = 1, gradient_accumulation_steps = 1;
  Index effective_world_size = 1;  // DP: ranks of one TP x CP x PP block share a batch
  Index batch_size = 1;  // micro * accumulation * DP, or as written * DP; 0: beyond 64 bits
  Index eval_batch_size = 1;
  Index sequence_len = 0;
  Index tokens_per_step = 0;  // batch_size * sequence_len; 0: beyond 64 bits
};

/// --global-batch N: which accumulation gives it, else the nearest on both sides.
struct GlobalBatch {
  Index wanted = 0;
  std::optional<Index> gradient_accumulation_steps;
  std::vector<Index> nearest;  // global batches that can be had
};

struct LearningRatePoint {
  std::string at;  // "first step", "end of warm-up", "half way", "last step"
  Index step = 0;  // from 1
  double value = 0;
};

struct Steps {
  std::optional<Index> total_num_steps;  // none without rows or max_steps
  std::string path;                      // "plain", "max_steps": how it was counted
  std::string formula;                   // with the numbers put in
  double num_epochs = 1;
  std::optional<Index> rows, rows_after_shard;  // as loaded; of this shard
  std::optional<Index> train_rows, eval_rows;   // after the split
  std::optional<Index> trainer_max_steps;  // what the trainer really runs: max_steps wins there
  std::optional<Index> warmup_steps;
  double learning_rate = 0;
  std::string lr_scheduler;
  double min_lr_ratio = 0;
  std::vector<LearningRatePoint> learning_rates;
};

/// Rows of a table: what a dimension splits, what it copies, what it costs.
struct DimensionRow {
  std::string dimension;  // "tp", "cp", ...
  Index size = 1;
  std::string splits, copies, collective;
  std::optional<Bytes> bytes_per_step;  // sent by one rank; none where the model is not known
};

struct SequenceLayout {
  std::string kind;                        // "head_tail", "contiguous"
  std::vector<std::vector<Index>> chunks;  // of rank r: numbers of its chunks; up to 65,536 ranks
  Index chunk_tokens = 0;
  Index padded_sequence_len = 0;
  Index pad_tokens = 0;  // of one sequence
  double imbalance = 1;  // causal work, greatest rank over mean
};

struct LayoutPlan {
  layout::ParallelDims dims;
  layout::Order order = layout::megatron_order;
  Index dp_shard = 1, dp_replicate = 1, ep = 1;
  std::vector<int> stage_layers;  // empty where the model is not known
  std::vector<DimensionRow> dimensions;
  Index weight_shards = 1, weight_replicas = 1;
};

/// Bytes of one rank of our engine by what they hold, from the meta run.
struct EngineMemory {
  Bytes parameters, gradients, optimizer, activations, buffers, total;
  int heaviest_rank = 0;
};

struct TrafficRow {
  std::string group, collective;
  Bytes bytes;  // sent by the rank in one step
  Index messages = 0;
};

struct Plan {
  config::TrainingConfig config;
  World world;
  Batch batch;
  std::optional<GlobalBatch> global_batch;
  Steps steps;
  LayoutPlan layout;
  SequenceLayout framework_layout, engine_layout;
  std::optional<model::ModelSpec> model;
  std::optional<EngineMemory> engine_memory;
  std::vector<TrafficRow> engine_traffic;  // of rank 0
  diag::Diagnostics diagnostics;           // of planning; rules/ adds its own
};

}  // namespace cpplan::plan
