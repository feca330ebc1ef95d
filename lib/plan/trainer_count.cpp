#include "plan/trainer_count.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cpplan::plan {

std::optional<Index> usable_count(double value) {
  if (!(value > 0) || value > largest_count) return std::nullopt;
  return static_cast<Index>(std::ceil(value));
}

std::optional<Index> steps_by_epochs(const Steps& steps) {
  if (!steps.steps_per_epoch) return std::nullopt;
  return usable_count(std::ceil(steps.num_epochs * static_cast<double>(*steps.steps_per_epoch)));
}

void set_steps_of_epoch(Index batches, const Batch& batch, LastBatch last, Steps& steps) {
  steps.steps_per_epoch =
      steps_of_epoch(batches, batch.effective_world_size, batch.gradient_accumulation_steps, last);
}

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

}  // namespace cpplan::plan
