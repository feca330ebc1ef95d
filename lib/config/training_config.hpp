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
  /// The name of the file that gave it, or "--set"; empty where nothing did.
  const std::string& origin() const { return key_span.file; }
  T value_or(T fallback) const { return value.value_or(std::move(fallback)); }
  const T& operator*() const { return *value; }
};

inline bool is_on(const Setting<bool>& setting) {
  return setting.value_or(false);
}
/// Given, and at least 1.
inline bool is_count(const Setting<Index>& setting) {
  return setting.given() && *setting >= 1;
}

enum class Dialect { axolotl, megatron };

/// How a Megatron config is written: a MODEL_ARGS map of --flag: value, the nested sections
/// language_model and model_parallel, or flag names at the top level. none: it is not Megatron's.
enum class MegatronForm { none, model_args, nested, flat };

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
  Setting<std::string> excess_length_strategy;  // drop, truncate or raise
  Setting<Index> min_sample_len, eval_sequence_len, pad_to_multiple_of;
  Setting<Index> sample_packing_group_size, sample_packing_bin_size;
  Setting<bool> sample_packing_sequentially, multipack_real_batches, curriculum_sampling;
  Setting<bool> eval_sample_packing, group_by_length, batch_flattening, auto_find_batch_size;
  Setting<bool> shuffle_merged_datasets, dataset_exact_deduplication, skip_prepare_dataset;
  Setting<std::string> sample_packing_mp_start_method, dataset_prepared_path;
  Setting<double> save_steps, eval_steps;  // a count, or a share of the run below 1
  Setting<std::string> save_strategy, eval_strategy;
  Setting<Index> save_total_limit, early_stopping_patience, eval_table_size;
};

struct OptimizerSettings {
  Setting<double> learning_rate, weight_decay, adam_beta1, adam_beta2, adam_epsilon, max_grad_norm;
  Setting<std::string> optimizer, lr_scheduler;
  Setting<Index> warmup_steps, seed;
  Setting<double> warmup_ratio, cosine_min_lr_ratio;
};

struct DatasetSettings {
  Setting<std::string> path, type, split, name, ds_type;
  Setting<Index> shards, shards_idx, preprocess_shards;
};

/// Hugging Face config.json names: cpplan.model.*, overrides_of_model_config.*.
struct RopeSettings {  // rope_scaling, or as transformers 5 has it rope_parameters
  Setting<std::string> rope_type;
  Setting<double> rope_theta, factor, low_freq_factor, high_freq_factor, beta_fast, beta_slow,
      attention_factor;
  Setting<Index> original_max_position_embeddings;
};

struct ModelSettings {
  Setting<std::string> base_model;  // a name of the registry, a folder or a hub id
  Setting<Index> hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim,
      intermediate_size, vocab_size, max_position_embeddings;
  RopeSettings rope_scaling;
  Setting<double> rope_theta, rms_norm_eps, attention_dropout, hidden_dropout, initializer_range;
  Setting<bool> tie_word_embeddings, attention_bias;
  Setting<std::string> model_type, hidden_act;
  Setting<Index> num_local_experts, num_experts_per_tok, moe_intermediate_size, sliding_window;
};

struct ClusterSettings {
  Setting<Index> nodes, gpus_per_node;
  Setting<std::string> gpu, hardware;
  Setting<std::string> partition, account, qos, constraint, time, reservation;  // of SLURM
};

/// cpplan.run.*: of our engine alone.
struct RunSettings {
  Setting<std::string> backend, dtype, cp_comm_type, schedule, recompute, optimizer_sharding;
  Setting<std::string> sequence_split;     // head_tail, contiguous or striped
  Setting<std::string> cp_gradient_dtype;  // fp32 or bf16
  Setting<Index> virtual_stages;           // model chunks of each pipeline stage
};

/// Where checkpoints are written and read: output_dir, resume_from_checkpoint and
/// auto_resume_from_checkpoints; Megatron's save and load.
struct CheckpointSettings {
  Setting<std::string> folder, resume_from;
  Setting<bool> auto_resume;
};

/// adapter: lora or qlora and what belongs to it.
struct AdapterSettings {
  Setting<Index> lora_r, lora_alpha;
  Setting<double> lora_dropout;
  Setting<std::vector<std::string>> lora_target_modules, lora_modules_to_save;
  Setting<bool> lora_target_linear, lora_fan_in_fan_out, use_dora, use_rslora;
  Setting<std::string> lora_model_dir;
};

/// Settings of preference and reinforcement training: rl and the section trl.
struct RlSettings {
  Setting<Index> num_generations, max_completion_length, vllm_tensor_parallel_size;
  Setting<Index> vllm_data_parallel_size;
  Setting<bool> use_vllm;
  Setting<std::string> vllm_mode;
};

/// Settings that decide which paths the framework takes; of fsdp, deepspeed, pretraining_dataset
/// and multimodal it only matters whether they are there.
struct FeatureSettings {
  Setting<bool> fsdp, deepspeed;  // fsdp or fsdp_config; deepspeed
  Setting<std::string> attn_implementation, adapter, rl, gradient_checkpointing;
  Setting<bool> fsdp_offload_params, fsdp_reshard_after_forward;
  Setting<Index> fsdp_version;
  Setting<bool> flash_attention, load_in_8bit, load_in_4bit, pretraining_dataset, multimodal;
  Setting<bool> sdp_attention, xformers_attention, flex_attention, sage_attention, eager_attention;
  Setting<std::string> deepspeed_config;  // the path or name of its JSON, where it is one
  Setting<Index> heads_k_stride;
  Setting<std::string> ring_attn_func;
  Setting<bool> ddp, use_ray, torch_compile, reward_model, process_reward_model;
  Setting<Index> ddp_timeout;
  Setting<bool> test_datasets, mamba, gptq, qat, liger, cut_cross_entropy;
  Setting<std::string> activation_offloading;  // "true", "disk", ... as written
  Setting<std::string> bf16, fp16, bfloat16;   // "true", "false", "auto", "full"
  Setting<std::string> fsdp_state_dict_type, fsdp_auto_wrap_policy, fsdp_sharding_strategy;
  Setting<bool> fsdp_activation_checkpointing, fsdp_cpu_ram_efficient_loading;
  Setting<std::vector<std::string>> plugins;
};

/// What only Megatron has; what both have stands in the settings above under axolotl's or Hugging
/// Face's name: tensor_model_parallel_size in parallel.tensor_parallel_size, seq_length in
/// batch.sequence_len, num_layers in model.num_hidden_layers, num_query_groups in
/// model.num_key_value_heads, ffn_hidden_size in model.intermediate_size, kv_channels in
/// model.head_dim, lr in optimizer.learning_rate, eval_micro_batch_size in batch.eval_batch_size.
/// Setting::key always says what the file calls it.
struct MegatronSettings {
  MegatronForm form = MegatronForm::none;

  // Batch and steps.
  Setting<Index> global_batch_size, eval_global_batch_size, decoder_seq_length;
  Setting<std::vector<Index>> rampup_batch_size;  // start, increment, samples
  Setting<std::string> step_batch_size_schedule;  // "0:32 90B:64"
  Setting<bool> decrease_batch_size_if_needed;
  Setting<Index> train_iters, train_samples, exit_interval, eval_iters, eval_interval;
  Setting<Index> save_interval, save_retain_interval;
  Setting<Index> lr_decay_iters, lr_decay_samples, lr_warmup_iters, lr_warmup_samples;
  Setting<double> lr_warmup_fraction, lr_warmup_init, min_lr;

  // Pipeline.
  Setting<Index> layers_per_virtual_stage, virtual_stages, microbatch_group_size;
  Setting<Index> virtual_pipeline_size;                   // virtual_pipeline_model_parallel_size
  Setting<std::string> pipeline_layout;                   // pipeline_model_parallel_layout
  Setting<bool> account_for_embedding, account_for_loss;  // ..._in_pipeline_split
  Setting<bool> overlap_p2p, defer_embedding_wgrad_compute;
  Setting<Index> mtp_num_layers;

  // Degrees beside TP, CP and PP.
  Setting<Index> expert_tensor_parallel_size, num_distributed_optimizer_instances;
  Setting<std::vector<Index>> hierarchical_context_parallel_sizes;  // also of cpplan.run
  // One for all layers or one a layer; also of cpplan.run, where it is a list.
  Setting<std::vector<std::string>> cp_comm_type;
  Setting<bool> hybrid_context_parallel, use_tp_pp_dp_mapping, tp_comm_overlap;

  // Model.
  Setting<bool> use_rope_scaling;
  Setting<double> rope_scaling_factor, rotary_seq_len_interpolation_factor, rotary_percent;
  Setting<Index> max_position_embeddings, make_vocab_size_divisible_by, padded_vocab_size;
  Setting<Index> num_experts, moe_router_topk, moe_ffn_hidden_size, moe_shared_expert_size;
  Setting<Index> moe_router_num_groups;
  Setting<std::string> moe_layer_freq, moe_token_dispatcher, position_embedding_type;
  Setting<std::string> normalization, hybrid_pattern, transformer_impl;
  Setting<Index> linear_num_key_heads, linear_num_value_heads;
  Setting<bool> group_query_attention, swiglu, untie_embeddings, add_bias_linear, add_qkv_bias;
  Setting<bool> multi_latent_attention, qk_layernorm, apply_layernorm_1p, use_flash_attention;
  Setting<std::vector<Index>> window_size;     // keys before and after the query's own; -1: all
  Setting<std::string> window_attn_skip_freq;  // every n-th layer has no window, or a list
  Setting<Index> q_lora_rank, kv_lora_rank, qk_head_dim, qk_pos_emb_head_dim, v_head_dim;

  // Precision, optimizer, recomputation, overlap.
  Setting<bool> bf16, fp16, accumulate_in_fp32, grad_reduce_in_bf16;
  Setting<bool> use_distributed_optimizer, overlap_grad_reduce, overlap_param_gather;
  Setting<bool> overlap_param_gather_with_optimizer_step, use_torch_fsdp2, use_megatron_fsdp;
  Setting<std::string> data_parallel_sharding_strategy, ckpt_format, fp8_format;
  Setting<std::string> recompute_granularity, recompute_method;
  Setting<Index> recompute_num_layers;
  Setting<std::vector<std::string>> recompute_modules;
  Setting<bool> distribute_saved_activations, cpu_offloading, optimizer_cpu_offload;
  Setting<bool> gradient_accumulation_fusion, calculate_per_token_loss, overlap_moe_a2a;

  Setting<std::string> cuda_device_max_connections;  // of ENV_VARS beside MODEL_ARGS

  // Data.
  Setting<std::string> dataloader_type, reset_position_ids, tokenizer_type;
  Setting<bool> mock_data, sft, rl_use_sequence_packing;
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
  CheckpointSettings checkpoint;
  FeatureSettings features;
  AdapterSettings adapter;
  RlSettings rl;
  MegatronSettings megatron;
  std::vector<DatasetSettings> datasets;
};

}  // namespace cpplan::config
