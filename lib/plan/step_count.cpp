#include "plan/step_count.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/megatron_steps.hpp"
#include "plan/packed_steps.hpp"
#include "plan/trainer_count.hpp"

namespace cpplan::plan {
namespace {

/// Micro-batches of `micro` rows of an epoch.
Index plain_batches(Index rows, Index micro, LastBatch last) {
  return last == LastBatch::drop ? rows / micro : whole_parts(rows, micro);
}

void count_plain(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  steps.path = "plain";
  if (!steps.train_rows) {
    steps.formula = "ceil(rows * num_epochs / batch_size): the rows are not known";
    return;
  }
  const Index rows = *steps.train_rows;
  if (batch.batch_size < 1 || rows < 0) return;
  const LastBatch last = last_batch(config);
  set_steps_of_epoch(plain_batches(rows, batch.micro_batch_size, last), batch, last, steps);
  const double value = plain_value(rows, steps.num_epochs, batch.batch_size);
  if (!(value >= 0) || value > largest_count) return;
  steps.upstream_value = value;
  steps.total_num_steps = static_cast<Index>(value);
  steps.formula = fmt::format("ceil({} rows * {} epochs / {}) = {}", rows, steps.num_epochs,
                              batch.batch_size, *steps.total_num_steps);
}

/// TRL repeats every prompt num_generations times, and drops what fills no step
/// (trl/trainer/grpo_trainer.py, RepeatSampler).
void count_on_policy(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  steps.path = "epochs";
  steps.formula = "the framework counts no steps for it, and its trainer counts epochs";
  const Index generations = config.rl.num_generations.value_or(8);  // TRL's default
  if (!steps.train_rows || batch.batch_size < 1 || generations < 1) return;
  const Index prompts = std::max<Index>(1, batch.batch_size / generations);
  steps.steps_per_epoch = std::max<Index>(1, *steps.train_rows / prompts);
  steps.total_num_steps = steps_by_epochs(steps);
  if (!steps.total_num_steps) return;
  steps.formula += fmt::format(": ceil({} epochs * ({} prompts // ({} // {} generations))) = {}",
                               steps.num_epochs, *steps.train_rows, batch.batch_size, generations,
                               *steps.total_num_steps);
}

bool packs(const config::TrainingConfig& config) {
  return config.batch.sample_packing.value_or(false) && !config.features.mamba.value_or(false) &&
         !trains_preferences(config);
}

}  // namespace

StepPath step_path(const config::TrainingConfig& config) {
  if (config.dialect == config::Dialect::megatron) return StepPath::megatron;
  if (config.batch.streaming.value_or(false) || config.features.pretraining_dataset.value_or(false))
    return StepPath::streaming;
  const std::string rl = config.features.rl.value_or("");
  if (rl == "grpo" || rl == "ebft") return StepPath::unbounded;
  if (!packs(config)) return StepPath::plain;
  return config.batch.sample_packing_eff_est.value_or(0) != 0 ? StepPath::estimate
                                                              : StepPath::measured;
}

LastBatch last_batch(const config::TrainingConfig& config) {
  const auto& b = config.batch;
  const bool evaluates_unpacked =
      b.sample_packing.value_or(false) && !b.eval_sample_packing.value_or(true);
  return b.dataloader_drop_last.value_or(evaluates_unpacked) ? LastBatch::drop : LastBatch::keep;
}

void count_by_path(const config::TrainingConfig& config, const PlanInputs& inputs,
                   const Batch& batch, const SelectedLengths& lengths, Index world_size,
                   Steps& steps) {
  if (packs(config)) replay(config, batch, lengths, world_size, steps);
  switch (step_path(config)) {
    case StepPath::plain:
      return count_plain(config, batch, steps);
    case StepPath::estimate:
      return count_estimated(config, inputs, batch, steps);
    case StepPath::measured:
      return count_measured(config, batch, steps);
    case StepPath::unbounded:
      return count_on_policy(config, batch, steps);
    case StepPath::megatron:
      return count_megatron_steps(config, batch, steps);
    case StepPath::streaming:
      steps.path = "streaming";
      steps.formula = "max_steps: a stream has no length";
  }
}

}  // namespace cpplan::plan
