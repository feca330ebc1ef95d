#include "train/run_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/philox.hpp"

namespace cpplan::train {
namespace {

/// The shortest text that reads back as the same number, for doubles, too.
template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return fmt::format("{}", static_cast<int>(value));
  else
    return fmt::format("{}", value);
}

class FactList {
 public:
  template <class T>
  FactList& add(const char* name, const T& value) {
    facts_.push_back({name, text_of(value)});
    return *this;
  }
  Facts take() { return std::move(facts_); }

 private:
  Facts facts_;
};

void add_model(FactList& list, const model::ModelSpec& m) {
  list.add("hidden_size", m.hidden_size)
      .add("num_hidden_layers", m.num_hidden_layers)
      .add("num_attention_heads", m.num_attention_heads)
      .add("num_key_value_heads", m.num_key_value_heads)
      .add("head_dim", m.head_dim)
      .add("intermediate_size", m.intermediate_size)
      .add("vocab_size", m.vocab_size)
      .add("rope_theta", m.rope_theta)
      .add("rms_norm_eps", m.rms_norm_eps)
      .add("initializer_range", m.initializer_range)
      .add("attention_dropout", m.attention_dropout)
      .add("hidden_dropout", m.hidden_dropout)
      .add("tie_word_embeddings", m.tie_word_embeddings);
}

void add_rotation(FactList& list, const model::RopeScaling& s) {
  list.add("rope_type", s.type)
      .add("rope_scaling.factor", s.factor)
      .add("low_freq_factor", s.low_freq_factor)
      .add("high_freq_factor", s.high_freq_factor)
      .add("beta_fast", s.beta_fast)
      .add("beta_slow", s.beta_slow)
      .add("attention_factor", s.attention_factor)
      .add("mscale", s.mscale)
      .add("mscale_all_dim", s.mscale_all_dim)
      .add("truncate", s.truncate)
      .add("original_max_position_embeddings", s.original_max_position_embeddings);
}

void add_layout(FactList& list, const engine::Job& job) {
  list.add("tensor_parallel_size", job.dims.tp)
      .add("context_parallel_size", job.dims.cp)
      .add("pipeline_parallel_size", job.dims.pp)
      .add("data_parallel_size", job.dims.dp)
      .add("sequence_parallel", job.dims.sequence_parallel)
      .add("order", layout::to_string(job.order))
      .add("virtual_stages", job.virtual_stages)
      .add("layers of the stages", fmt::format("{}", fmt::join(job.stage_layers, " ")));
}

void add_context_parallel(FactList& list, const engine::Job& job) {
  const auto& cp = job.context_parallel;
  std::vector<int> types;
  for (const auto type : cp.layer_types) types.push_back(static_cast<int>(type));
  list.add("cp_comm_type", fmt::format("{}", fmt::join(types, " ")))
      .add("split of the sequence", cp.split)
      .add("transport of CP gradients", cp.gradients)
      .add("inner CP size", cp.inner_size)
      .add("attention window", job.attention_window)
      .add("recompute", job.recompute)
      .add("gradients of weights", job.weight_gradients);
}

void add_data_parallel(FactList& list, const engine::DataParallelSettings& dp) {
  list.add("sharding", dp.sharding)
      .add("dp_replicate_size", dp.replicate)
      .add("reshard_after_forward", dp.reshard_after_forward)
      .add("overlap of gradients", dp.overlap_gradients)
      .add("overlap of parameters", dp.overlap_parameters);
}

void add_batch(FactList& list, const engine::Job& job) {
  list.add("dtype", job.dtype)
      .add("seed", job.seed)
      .add("gradient_accumulation_steps", job.micro_batches)
      .add("micro_batch_size", job.micro_batch_size)
      .add("rows of a micro-batch", job.capacity);
}

void add_optimizer(FactList& list, const engine::AdamWSettings& adamw,
                   const plan::LearningRate& rate) {
  list.add("adam_beta1", adamw.beta1)
      .add("adam_beta2", adamw.beta2)
      .add("adam_epsilon", adamw.epsilon)
      .add("weight_decay", adamw.weight_decay)
      .add("max_grad_norm", adamw.max_grad_norm)
      .add("learning_rate", rate.base)
      .add("lr_scheduler", rate.schedule)
      .add("warmup_steps", rate.warmup_steps)
      .add("total steps of the schedule", rate.total_steps)
      .add("min_lr_ratio", rate.min_lr_ratio);
}

void add_data(FactList& list, const TrainingRun& run) {
  list.add("steps", run.steps)
      .add("samples of an epoch", run.samples.samples_per_epoch())
      .add("sequence_len", run.samples.sequence_len())
      .add("hash of the data", fmt::format("{:016x}", run.data_hash))
      .add("weights", run.weights.string());
}

void add_checkpoints(FactList& list, const std::optional<plan::Checkpoints>& checkpoints) {
  const plan::Checkpoints c = checkpoints.value_or(plan::Checkpoints{});
  list.add("keeps checkpoints", checkpoints.has_value())
      .add("output_dir", c.folder)
      .add("save_steps", c.interval.value_or(0))
      .add("save_total_limit", c.keep.value_or(0))
      .add("save_retain_interval", c.retain_interval.value_or(0))
      .add("checkpoint writer", c.writer)
      .add("start", c.start)
      .add("resume_from_checkpoint", c.start_folder);
}

}  // namespace

Facts facts_of(const TrainingRun& run) {
  FactList list;
  add_model(list, run.job.model);
  add_rotation(list, run.job.model.rope_scaling);
  add_layout(list, run.job);
  add_context_parallel(list, run.job);
  add_data_parallel(list, run.job.data_parallel);
  add_batch(list, run.job);
  add_optimizer(list, run.job.adamw, run.learning_rate);
  add_data(list, run);
  add_checkpoints(list, run.checkpoints);
  return list.take();
}

std::uint64_t hash_of(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) text += fmt::format("{} {}\n", name, value);
  return fnv1a(text);
}

std::uint64_t hash_of(const TrainingRun& run) {
  return hash_of(facts_of(run));
}

}  // namespace cpplan::train
