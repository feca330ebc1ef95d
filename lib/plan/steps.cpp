#include "plan/steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "plan/batch.hpp"
#include "plan/megatron_steps.hpp"
#include "plan/packed_steps.hpp"
#include "plan/points.hpp"
#include "plan/rows.hpp"
#include "plan/schedule.hpp"
#include "plan/step_count.hpp"

namespace cpplan::plan {
namespace {

/// 0 is falsy upstream and -1 is Hugging Face's "use epochs": both mean unset. Others below 1 are
/// an error that rules/ reports.
std::optional<Index> effective_max_steps(const config::BatchSettings& b) {
  return is_count(b.max_steps) ? b.max_steps.value : std::nullopt;
}

/// Preference training counts and warms up over its epochs whatever max_steps says
/// (utils/data/rl.py); only its trainer stops there.
bool counts_beyond_max_steps(const config::TrainingConfig& config) {
  return trains_preferences(config) && step_path(config) != StepPath::streaming;
}

void limit(Index most, const config::TrainingConfig& config, Steps& steps) {
  const Index counted = *steps.total_num_steps;
  if (counts_beyond_max_steps(config) && steps.path != "epochs") {
    steps.formula += fmt::format("; the trainer stops at max_steps {}", most);
    return;
  }
  steps.total_num_steps = steps.path == "epochs" ? most : std::min(counted, most);
  steps.formula +=
      fmt::format("; min({}, max_steps {}) = {}", counted, most, *steps.total_num_steps);
  if (steps.path == "epochs") steps.formula = fmt::format("max_steps = {}", most);
  if (most < counted || steps.path == "epochs") steps.path = "max_steps";
}

/// min(counted, max_steps) is what the framework logs and warms up over; its trainer gets max_steps
/// as it stands and runs on over the data.
void apply_max_steps(const config::TrainingConfig& config, Steps& steps) {
  steps.trainer_max_steps = steps.total_num_steps;
  const auto most = effective_max_steps(config.batch);
  if (!most || step_path(config) == StepPath::megatron) return;
  steps.trainer_max_steps = most;
  if (steps.total_num_steps) return limit(*most, config, steps);
  if (steps.packing && steps.packing->batches < 1) return;  // nothing to train on, ever
  steps.total_num_steps = most;
  steps.formula = fmt::format("max_steps = {}", *most);
  if (steps.path != "streaming") steps.path = "max_steps";
}

/// Micro-batches of an epoch over those of a step where rows are packed, else rows over rows.
void count_epochs(const Batch& batch, Steps& steps) {
  if (!steps.trainer_max_steps) return;
  const auto run = static_cast<double>(*steps.trainer_max_steps);
  if (steps.packing && steps.packing->batches > 0) {
    const auto of_step =
        checked_multiply(batch.gradient_accumulation_steps, batch.effective_world_size);
    if (!of_step) return;
    steps.epochs =
        run * static_cast<double>(*of_step) / static_cast<double>(steps.packing->batches);
  } else if (steps.path == "plain" || steps.path == "max_steps") {
    const auto of_step = rows_per_step(batch);
    if (!of_step || steps.train_rows.value_or(0) < 1) return;
    steps.epochs = run * static_cast<double>(*of_step) / static_cast<double>(*steps.train_rows);
  }
}

void explain_batch(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  const auto& b = config.batch;
  const Index ranks = batch.effective_world_size;
  const bool written = step_path(config) != StepPath::megatron && b.batch_size.value_or(0) >= 1;
  steps.formulas.push_back(
      {"batch_size", written
                         ? fmt::format("batch_size {} * {} data-parallel ranks = {}", *b.batch_size,
                                       ranks, batch.batch_size)
                         : fmt::format("{} rows * {} accumulated * {} data-parallel ranks = {}",
                                       batch.micro_batch_size, batch.gradient_accumulation_steps,
                                       ranks, batch.batch_size)});
}

}  // namespace

Steps count_steps(const config::TrainingConfig& config, const PlanInputs& inputs,
                  const Batch& batch, Index world_size) {
  Steps steps;
  steps.num_epochs = config.batch.num_epochs.value_or(1.0);
  explain_batch(config, batch, steps);
  const SelectedLengths lengths = select_rows(config, inputs, batch.sequence_len, steps);
  count_by_path(config, inputs, batch, lengths, world_size, steps);
  count_eval_steps(config, inputs, batch, lengths, world_size, steps);
  apply_max_steps(config, steps);
  steps.formulas.push_back({"total_num_steps", steps.formula});
  count_epochs(batch, steps);
  if (step_path(config) == StepPath::megatron)
    schedule_megatron(config, batch, steps);
  else
    schedule_learning_rate(config, steps);
  place_points(config, steps);
  return steps;
}

}  // namespace cpplan::plan
