#include "plan/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/trainer_count.hpp"

namespace cpplan::plan {
namespace {

constexpr Index most_points = 1000;  // that are listed; all are counted

/// An interval as the file gives it: steps, or below 1 a share of the run.
struct Interval {
  double value = 0;  // 0: none
  std::string text;
};

/// per_epoch gives 1 / (per_epoch * num_epochs), and is dropped where that is not below 1.
Interval interval_of(const config::Setting<double>& steps, const config::Setting<Index>& per_epoch,
                     double num_epochs) {
  if (per_epoch.value_or(0) > 0 && num_epochs > 0) {
    const double share = 1.0 / (static_cast<double>(*per_epoch) * num_epochs);
    if (share < 1.0)
      return {share, fmt::format("1 / ({} an epoch * {} epochs)", *per_epoch, num_epochs)};
  }
  const double value = steps.value_or(0);
  return value > 0 ? Interval{value, fmt::format("{}", value)} : Interval{};
}

Index in_steps(double interval, Index total) {
  const double steps = interval < 1 ? std::ceil(static_cast<double>(total) * interval) : interval;
  return std::max<Index>(1, static_cast<Index>(std::min(steps, static_cast<double>(total) + 1)));
}

enum class Last { only_if_due, always };

void place_every(Index interval, Index total, Last last, Points& points) {
  points.interval = interval;
  const bool extra = last == Last::always && total > 0 && total % interval != 0;
  points.count = total / interval + (extra ? 1 : 0);
  for (Index step = interval; step <= total && std::ssize(points.steps) < most_points;
       step += interval)
    points.steps.push_back(step);
  if (extra && std::ssize(points.steps) < most_points) points.steps.push_back(total);
}

void place(const Interval& interval, Last last, const std::string& name, Steps& steps,
           Points& points) {
  if (!steps.trainer_max_steps || *steps.trainer_max_steps < 1) return;
  const Index total = *steps.trainer_max_steps;
  if (static_cast<double>(total) > largest_count) return;  // no run, but a mistake elsewhere
  if (points.strategy == "steps" && interval.value > 0) {
    place_every(in_steps(interval.value, total), total, last, points);
    steps.formulas.push_back(
        {name, interval.value < 1
                   ? fmt::format("ceil({} steps * {}) = {}", total, interval.text, *points.interval)
                   : fmt::format("{} = {}", name, interval.text)});
  } else if (points.strategy == "epoch" && steps.steps_per_epoch) {
    place_every(*steps.steps_per_epoch, total, Last::always, points);
    steps.formulas.push_back(
        {name, fmt::format("at the end of an epoch of {} steps", *steps.steps_per_epoch)});
  }
}

/// Without a strategy a run saves every epoch.
std::string save_strategy(const config::BatchSettings& b, const Interval& interval) {
  return interval.value > 0 ? "steps" : b.save_strategy.value_or("epoch");
}

/// Without validation rows nothing is evaluated; without an interval or a strategy neither.
std::string eval_strategy(const config::TrainingConfig& config, const Interval& interval) {
  const auto& b = config.batch;
  const bool evaluates =
      b.val_set_size.value_or(0) > 0 || config.features.test_datasets.value_or(false);
  if (!evaluates) return "no";
  return interval.value > 0 ? "steps" : b.eval_strategy.value_or("no");
}

void place_megatron_points(const config::MegatronSettings& m, Steps& steps) {
  const auto every = [](const config::Setting<Index>& setting) {
    const double value = static_cast<double>(std::max<Index>(0, setting.value_or(0)));
    return Interval{value, fmt::format("{}", value)};
  };
  steps.saves.strategy = every(m.save_interval).value > 0 ? "steps" : "no";
  steps.evals.strategy = every(m.eval_interval).value > 0 ? "steps" : "no";
  place(every(m.save_interval), Last::always, "save_steps", steps, steps.saves);
  place(every(m.eval_interval), Last::only_if_due, "eval_steps", steps, steps.evals);
}

}  // namespace

void place_points(const config::TrainingConfig& config, Steps& steps) {
  if (config.dialect == config::Dialect::megatron)
    return place_megatron_points(config.megatron, steps);
  const auto& b = config.batch;
  const Interval save = interval_of(b.save_steps, b.saves_per_epoch, steps.num_epochs);
  steps.saves.strategy = save_strategy(b, save);
  place(save, Last::always, "save_steps", steps, steps.saves);
  const Interval eval = interval_of(b.eval_steps, b.evals_per_epoch, steps.num_epochs);
  steps.evals.strategy = eval_strategy(config, eval);
  place(eval, Last::only_if_due, "eval_steps", steps, steps.evals);
}

}  // namespace cpplan::plan
