#include "plan/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/learning_rate.hpp"
#include "plan/step_count.hpp"

namespace cpplan::plan {
namespace {

/// Where the framework counts nothing, the trainer takes ceil(ratio * its own steps); a count below
/// 1 gives no warm-up.
Index warmup_of(const config::OptimizerSettings& o, const Steps& steps, StepPath path) {
  const Index total = *steps.total_num_steps;
  if (o.warmup_steps.given() || path == StepPath::streaming)
    return count_warmup_steps(o.warmup_steps.value, o.warmup_ratio.value, total);
  if (path == StepPath::unbounded) {
    const double share = o.warmup_ratio.value_or(0.03) * static_cast<double>(total);
    return static_cast<Index>(std::ceil(std::max(0.0, share)));
  }
  const bool counted = steps.upstream_value.value_or(0) > 0;
  return counted ? count_warmup_steps(std::nullopt, o.warmup_ratio.value, total) : 0;
}

void explain_warmup(const config::OptimizerSettings& o, Steps& steps) {
  const Index total = *steps.total_num_steps;
  std::string text = fmt::format("min(int(0.03 * {}), 100)", total);
  if (o.warmup_ratio.given()) text = fmt::format("int({} * {})", *o.warmup_ratio, total);
  if (o.warmup_steps.given()) text = "warmup_steps";
  steps.formulas.push_back({"warmup_steps", fmt::format("{} = {}", text, *steps.warmup_steps)});
}

}  // namespace

void schedule_learning_rate(const config::TrainingConfig& config, Steps& steps) {
  const auto& o = config.optimizer;
  steps.learning_rate = o.learning_rate.value_or(0.0);
  steps.lr_scheduler = o.lr_scheduler.value_or("cosine");
  steps.min_lr_ratio = o.cosine_min_lr_ratio.value_or(0.0);
  if (!steps.total_num_steps || *steps.total_num_steps < 1) return;
  steps.warmup_steps = warmup_of(o, steps, step_path(config));
  explain_warmup(o, steps);
  const auto schedule = parse_schedule(steps.lr_scheduler);
  if (!schedule || !o.learning_rate.given()) return;
  const LearningRate rate{steps.learning_rate, *schedule, *steps.warmup_steps,
                          *steps.trainer_max_steps, steps.min_lr_ratio};
  steps.learning_rates = four_points([&](Index step) { return rate.at(step); }, *steps.warmup_steps,
                                     *steps.trainer_max_steps);
}

std::vector<LearningRatePoint> four_points(const std::function<double(Index)>& rate_at,
                                           Index warmup_steps, Index last) {
  std::vector<LearningRatePoint> points;
  for (const auto& [at, step] : {std::pair<const char*, Index>{"first step", 1},
                                 {"end of warm-up", std::min(warmup_steps, last - 1) + 1},
                                 {"half way", std::max<Index>(1, last / 2)},
                                 {"last step", last}})
    points.push_back({at, step, rate_at(step)});
  return points;
}

}  // namespace cpplan::plan
