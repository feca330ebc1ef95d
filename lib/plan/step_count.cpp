#include "plan/step_count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "plan/megatron_steps.hpp"
#include "plan/packing.hpp"

namespace cpplan::plan {
namespace {

constexpr double largest_count = 9007199254740992.0;  // 2^53: every count below is exact

/// A count of steps; a fraction is run until it is exceeded. None where a trainer cannot count so.
std::optional<Index> usable_count(double value) {
  if (!(value > 0) || value > largest_count) return std::nullopt;
  return static_cast<Index>(std::ceil(value));
}

/// What the trainer does without a count: epochs of its own steps.
std::optional<Index> steps_by_epochs(const Steps& steps) {
  if (!steps.steps_per_epoch) return std::nullopt;
  return usable_count(std::ceil(steps.num_epochs * static_cast<double>(*steps.steps_per_epoch)));
}

/// Micro-batches of `micro` rows of an epoch.
Index plain_batches(Index rows, Index micro, LastBatch last) {
  return last == LastBatch::drop ? rows / micro : ceil_div(rows, micro);
}

void set_steps_of_epoch(Index batches, const config::TrainingConfig& config, const Batch& batch,
                        Steps& steps) {
  steps.steps_per_epoch = steps_of_epoch(batches, batch.effective_world_size,
                                         batch.gradient_accumulation_steps, last_batch(config));
}

/// Takes the framework's value as it is, or the trainer's epochs where it is no count of steps.
void take_value(double value, std::string formula, Steps& steps) {
  steps.upstream_value = value;
  steps.formula = std::move(formula);
  steps.total_num_steps = usable_count(value);
  if (steps.total_num_steps && *steps.total_num_steps != value)
    steps.formula += fmt::format("; the trainer stops after {}", *steps.total_num_steps);
  if (steps.total_num_steps) return;
  steps.total_num_steps = steps_by_epochs(steps);
  if (!steps.total_num_steps) return;
  steps.path = "epochs";
  steps.formula += fmt::format(
      "; no count of steps, so the trainer counts epochs: ceil({} epochs * {} steps) = {}",
      steps.num_epochs, *steps.steps_per_epoch, *steps.total_num_steps);
}

void count_plain(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  steps.path = "plain";
  if (!steps.train_rows) {
    steps.formula = "ceil(rows * num_epochs / batch_size): the rows are not known";
    return;
  }
  const Index rows = *steps.train_rows;
  if (batch.batch_size < 1 || rows < 0) return;
  set_steps_of_epoch(plain_batches(rows, batch.micro_batch_size, last_batch(config)), config, batch,
                     steps);
  const double value = plain_value(rows, steps.num_epochs, batch.batch_size);
  if (!(value >= 0) || value > largest_count) return;
  steps.upstream_value = value;
  steps.total_num_steps = static_cast<Index>(value);
  steps.formula = fmt::format("ceil({} rows * {} epochs / {}) = {}", rows, steps.num_epochs,
                              batch.batch_size, *steps.total_num_steps);
}

/// total_num_tokens of the file where it is truthy, else what is counted.
std::optional<Index> tokens_of(const config::BatchSettings& b, std::optional<Index> given,
                               std::optional<Index> counted) {
  if (b.total_num_tokens.value_or(0) != 0) return b.total_num_tokens.value;
  return given ? given : counted;
}

std::string estimate_text(const PackingEstimate& e, double epochs, Index batch_size, double value) {
  return fmt::format("(floor(0.99 * {} tokens / {} / {} // {}) - 1) * {} epochs = {}", e.tokens,
                     e.efficiency, e.sequence_len, batch_size, epochs, value);
}

/// Micro-batches that tokens of this packing efficiency fill.
Index estimated_batches(const PackingEstimate& e, Index micro_batch_size) {
  const double batches =
      std::ceil(static_cast<double>(e.tokens) / e.efficiency / static_cast<double>(e.sequence_len) /
                static_cast<double>(micro_batch_size));
  return batches < largest_count && batches >= 0 ? static_cast<Index>(batches) : 0;
}

void count_estimated(const config::TrainingConfig& config, const PlanInputs& inputs,
                     const Batch& batch, Steps& steps) {
  steps.path = "packing (estimate)";
  steps.total_num_tokens = tokens_of(config.batch, inputs.total_tokens, steps.total_num_tokens);
  if (!steps.total_num_tokens || *steps.total_num_tokens < 0 || batch.batch_size < 1) {
    steps.formula =
        "(floor(0.99 * tokens / sample_packing_eff_est / sequence_len // batch_size) - 1) * "
        "num_epochs: the tokens are not known";
    return;
  }
  const PackingEstimate e{*steps.total_num_tokens, *config.batch.sample_packing_eff_est,
                          batch.sequence_len};
  const Index batches =
      steps.packing ? steps.packing->batches : estimated_batches(e, batch.micro_batch_size);
  set_steps_of_epoch(batches, config, batch, steps);
  const double value = estimated_value(e, steps.num_epochs, batch.batch_size);
  take_value(value, estimate_text(e, steps.num_epochs, batch.batch_size, value), steps);
}

double measured_steps(Index batches, const config::TrainingConfig& config, const Batch& batch,
                      double epochs) {
  const LastBatch last =
      config.batch.dataloader_drop_last.value_or(false) ? LastBatch::drop : LastBatch::keep;
  return measured_value(data_loader_len(batches, batch.micro_batch_size, batch.batch_size), epochs,
                        last);
}

std::string measured_text(const config::TrainingConfig& config, const Batch& batch,
                          const Steps& steps, double value) {
  const Packing& p = *steps.packing;
  const bool drops = config.batch.dataloader_drop_last.value_or(false);
  return fmt::format(
      "{} bins in batches of {} = {}; max(1, {} * {} // {}) = {}; floor({} * {} epochs){} = {}",
      p.bins, p.bins_per_batch, p.batches, p.batches, batch.micro_batch_size, batch.batch_size,
      p.data_loader_len, p.data_loader_len, steps.num_epochs,
      drops ? fmt::format(" - ceil({})", steps.num_epochs) : "", value);
}

void replay(const config::TrainingConfig& config, const Batch& batch,
            const SelectedLengths& lengths, Index world_size, Steps& steps) {
  if (!lengths.known || batch.batch_size < 1) return;
  auto [packing, batches] = replay_packing(config, batch, lengths.training(), world_size);
  packing.data_loader_len =
      data_loader_len(packing.batches, batch.micro_batch_size, batch.batch_size);
  const auto whole = [&](Index of) {
    return usable_count(measured_steps(of, config, batch, steps.num_epochs)).value_or(0);
  };
  packing.min_steps = whole(std::ranges::min(batches));
  packing.max_steps = whole(std::ranges::max(batches));
  steps.packing = std::move(packing);
}

void count_measured(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  steps.path = "packing (measured)";
  if (!steps.packing) {
    steps.formula =
        "floor(max(1, bins * micro_batch_size // batch_size) * num_epochs): the lengths of the "
        "rows are not known (--lengths)";
    return;
  }
  const Packing& packing = *steps.packing;
  if (packing.batches < 1) {
    steps.formula = fmt::format("{} bins fill no batch of {}: there is nothing to train on",
                                packing.bins, packing.bins_per_batch);
    return;
  }
  set_steps_of_epoch(packing.batches, config, batch, steps);
  const double value = measured_steps(packing.batches, config, batch, steps.num_epochs);
  take_value(value, measured_text(config, batch, steps, value), steps);
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

void count_eval_steps(const config::TrainingConfig& config, const PlanInputs& inputs,
                      const Batch& batch, const SelectedLengths& lengths, Index world_size,
                      Steps& steps) {
  if (inputs.eval_tokens) steps.eval_num_tokens = inputs.eval_tokens;
  const StepPath path = step_path(config);
  const bool packed = path == StepPath::estimate || path == StepPath::measured;
  if (!packed || !config.batch.eval_sample_packing.value_or(true) || batch.batch_size < 1) return;
  if (path == StepPath::estimate && steps.eval_num_tokens.value_or(-1) >= 0) {
    const PackingEstimate e{*steps.eval_num_tokens, *config.batch.sample_packing_eff_est,
                            batch.sequence_len};
    steps.eval_num_steps = estimated_value(e, steps.num_epochs, batch.batch_size);
  } else if (path == StepPath::measured && lengths.known && !lengths.validation().empty()) {
    const auto eval = replay_packing(config, batch, lengths.validation(), world_size);
    steps.eval_num_steps = measured_steps(eval.packing.batches, config, batch, steps.num_epochs);
  }
}

}  // namespace cpplan::plan
