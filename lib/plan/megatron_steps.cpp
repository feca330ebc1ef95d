#include "plan/megatron_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "plan/megatron_batch.hpp"
#include "plan/schedule.hpp"
#include "plan/step_formulas.hpp"

namespace cpplan::plan {
namespace {

void count_samples(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  const Index samples = *config.megatron.train_samples;
  const auto phases = batch_phases(config, batch);
  if (!phases || samples < 0) {
    steps.formula = "train_samples over a schedule of batch sizes that has no meaning";
    return;
  }
  const Index iterations = iterations_of(*phases, samples), size = phases->back().global_batch_size;
  steps.total_num_steps = iterations;
  steps.formula =
      phases->size() == 1
          ? fmt::format("{} samples // {} = {} ({} samples unused)", samples, size, iterations,
                        samples % size)
          : fmt::format("{} samples over {} batch sizes from {} to {} = {}", samples,
                        phases->size(), phases->front().global_batch_size, size, iterations);
}

/// lr_decay_samples and lr_warmup_samples go with train_samples; with constant batches they are
/// iterations times the batch.
Index in_iterations(const config::Setting<Index>& iterations, const config::Setting<Index>& samples,
                    Index batch_size, Index fallback) {
  if (samples.value_or(0) > 0 && batch_size > 0) return whole_parts(*samples, batch_size);
  return std::max<Index>(0, iterations.value_or(fallback));
}

Index warmup_of(const config::MegatronSettings& m, Index batch_size, Index decay) {
  if (!m.lr_warmup_fraction.given())
    return in_iterations(m.lr_warmup_iters, m.lr_warmup_samples, batch_size, 0);
  const double share = std::clamp(*m.lr_warmup_fraction, 0.0, 1.0) * static_cast<double>(decay);
  return static_cast<Index>(share);
}

bool is_known(const std::string& style) {
  return style == "linear" || style == "cosine" || style == "constant" ||
         style == "inverse-square-root";
}

}  // namespace

double MegatronLearningRate::at(Index step) const {
  const auto done = static_cast<double>(step - 1), warm = static_cast<double>(warmup_steps);
  if (warmup_steps > 0 && step - 1 <= warmup_steps)
    return initial + (greatest - initial) * done / warm;
  if (style == "constant") return greatest;
  if (step - 1 > decay_steps) return least;
  if (style == "inverse-square-root")
    return std::max(least,
                    greatest * std::sqrt(std::max(warm, 1.0)) / std::sqrt(std::max(done, 1.0)));
  const double ratio =
      (done - warm) / static_cast<double>(std::max<Index>(1, decay_steps - warmup_steps));
  const double share =
      style == "cosine" ? 0.5 * (std::cos(std::numbers::pi * ratio) + 1.0) : 1.0 - ratio;
  return least + share * (greatest - least);
}

void count_megatron_steps(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  const auto& m = config.megatron;
  steps.path = "megatron";
  steps.formula =
      "train_samples // global_batch_size: neither train_iters nor train_samples is given";
  if (m.train_iters.given() && *m.train_iters >= 0) {
    steps.total_num_steps = *m.train_iters;
    steps.formula = fmt::format("train_iters = {}", *m.train_iters);
  } else if (m.train_samples.given()) {
    count_samples(config, batch, steps);
  }
  if (steps.total_num_steps) steps.upstream_value = static_cast<double>(*steps.total_num_steps);
}

void schedule_megatron(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  const auto& m = config.megatron;
  steps.learning_rate = config.optimizer.learning_rate.value_or(0.0);
  steps.lr_scheduler = config.optimizer.lr_scheduler.value_or("linear");
  if (steps.learning_rate > 0) steps.min_lr_ratio = m.min_lr.value_or(0) / steps.learning_rate;
  if (!steps.total_num_steps || *steps.total_num_steps < 1) return;
  const Index last = *steps.total_num_steps;
  const Index decay = in_iterations(m.lr_decay_iters, m.lr_decay_samples, batch.batch_size, last);
  steps.warmup_steps = warmup_of(m, batch.batch_size, decay);
  if (!is_known(steps.lr_scheduler) || !config.optimizer.learning_rate.given()) return;
  const MegatronLearningRate rate{steps.lr_scheduler,  m.lr_warmup_init.value_or(0),
                                  steps.learning_rate, m.min_lr.value_or(0),
                                  *steps.warmup_steps, decay};
  steps.learning_rates =
      four_points([&](Index step) { return rate.at(step); }, *steps.warmup_steps, last);
}

}  // namespace cpplan::plan
