#include "plan/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cpplan::plan {
namespace {

double ratio(Index part, Index whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<Index>(1, whole));
}

double cosine_decay(double progress, double floor) {
  const double scaling = 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  return std::max(0.0, (1.0 - floor) * scaling + floor);
}

}  // namespace

std::optional<Schedule> parse_schedule(std::string_view name) {
  if (name == "cosine") return Schedule::cosine;
  if (name == "linear") return Schedule::linear;
  if (name == "constant") return Schedule::constant;
  if (name == "constant_with_warmup") return Schedule::constant_with_warmup;
  return std::nullopt;
}

double LearningRate::at(Index step) const {
  const Index done = step - 1, decay_steps = total_steps - warmup_steps;
  if (schedule == Schedule::constant) return base;
  if (done < warmup_steps) return base * ratio(done, warmup_steps);
  switch (schedule) {
    case Schedule::cosine:
      return base * cosine_decay(ratio(done - warmup_steps, decay_steps), min_lr_ratio);
    case Schedule::linear:
      return base * std::max(0.0, ratio(total_steps - done, decay_steps));
    case Schedule::constant:
    case Schedule::constant_with_warmup:
      return base;
  }
  return base;
}

Index count_warmup_steps(std::optional<Index> warmup_steps, std::optional<double> warmup_ratio,
                         Index total_steps) {
  const auto total = static_cast<double>(total_steps);
  const auto share = [&](double part) {
    return static_cast<Index>(std::clamp(part * total, 0.0, total));
  };
  const Index steps = warmup_steps   ? std::max<Index>(0, *warmup_steps)
                      : warmup_ratio ? share(*warmup_ratio)
                                     : std::min<Index>(share(0.03), 100);
  return steps == 1 ? 2 : steps;
}

}  // namespace cpplan::plan
