#pragma once
// What a training config says, whatever its dialect: every value with the place it came from.
// Nothing is filled in here: a setting that the file does not give has no value; defaults that the
// framework applies are applied (and named) by plan/.
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "diag/diagnostic.hpp"

namespace cpplan::config {

/// A value that may be given, and where.
template <class T>
struct Setting {
  std::optional<T> value;
  diag::Span span;      // of the value
  diag::Span key_span;  // of its key
  std::string key;      // as the file spells it, dotted: "cpplan.model.hidden_size"

  bool given() const { return value.has_value(); }
  T value_or(T fallback) const { return value.value_or(std::move(fallback)); }
  const T& operator*() const { return *value; }
};

enum class Dialect { axolotl, megatron };

struct ParallelSettings {
  Setting<Index> tensor_parallel_size, context_parallel_size, pipeline_parallel_size;
  Setting<Index> data_parallel_size;  // ours: a check, and a source of the world size
  Setting<Index> dp_shard_size, dp_replicate_size, expert_parallel_size;
  Setting<Index> sequence_parallel_degree;  // axolotl's old name of context_parallel_size
  // num_layers_in_{first,last}_pipeline_stage
  Setting<Index> first_stage_layers, last_stage_layers;
  Setting<Index> world_size;  // axolotl overwrites it with the environment's
  // SP around TP layers; cpplan.run.sequence_parallel in axolotl's dialect
  Setting<bool> sequence_parallel;
};

struct BatchSettings {
  Setting<Index> micro_batch_size, gradient_accumulation_steps, batch_size, sequence_len;
  Setting<double> num_epochs;
  Setting<Index> max_steps;
  Setting<bool> sample_packing, pad_to_sequence_len, streaming;
  Setting<double> sample_packing_eff_est, val_set_size;
  Setting<bool> dataloader_drop_last;
  Setting<Index> eval_batch_size, dataset_shard_num, dataset_shard_idx;
  Setting<Index> saves_per_epoch, evals_per_epoch, total_num_tokens;
};

struct OptimizerSettings {
  Setting<double> learning_rate, weight_decay, adam_beta1, adam_beta2, adam_epsilon, max_grad_norm;
  Setting<std::string> optimizer, lr_scheduler;
  Setting<Index> warmup_steps, seed;
  Setting<double> warmup_ratio, cosine_min_lr_ratio;
};

struct DatasetSettings {
  Setting<std::string> path, type, split;
};

/// Hugging Face config.json names: cpplan.model.*, overrides_of_model_config.*.
struct ModelSettings {
  Setting<std::string> base_model;  // a name of the registry, a folder or a hub id
  Setting<Index> hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim,
      intermediate_size, vocab_size, max_position_embeddings;
  Setting<double> rope_theta, rms_norm_eps, attention_dropout, hidden_dropout, initializer_range;
  Setting<bool> tie_word_embeddings;
};

struct ClusterSettings {
  Setting<Index> nodes, gpus_per_node;
  Setting<std::string> gpu;
};

/// cpplan.run.*: of our engine alone.
struct RunSettings {
  Setting<std::string> backend, dtype, cp_comm_type, schedule, recompute, optimizer_sharding;
};

/// Settings that decide which paths the framework takes; of fsdp, deepspeed, pretraining_dataset
/// and multimodal it only matters whether they are there.
struct FeatureSettings {
  Setting<bool> fsdp, deepspeed;  // fsdp or fsdp_config; deepspeed
  Setting<std::string> attn_implementation, adapter, rl, gradient_checkpointing;
  Setting<bool> fsdp_offload_params, fsdp_reshard_after_forward;
  Setting<Index> fsdp_version;
  Setting<bool> flash_attention, load_in_8bit, load_in_4bit, pretraining_dataset, multimodal;
};

/// cpplan.launch.*
struct LaunchSettings {
  Setting<Index> uid;  // user id that the job will run under
};

struct TrainingConfig {
  std::string file;
  Dialect dialect = Dialect::axolotl;
  ParallelSettings parallel;
  BatchSettings batch;
  OptimizerSettings optimizer;
  ModelSettings model;
  ClusterSettings cluster;
  RunSettings run;
  LaunchSettings launch;
  FeatureSettings features;
  std::vector<DatasetSettings> datasets;
};

}  // namespace cpplan::config
