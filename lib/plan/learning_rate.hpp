#pragma once
// The learning rate of a step, as Hugging Face's schedules compute it. The plan shows four points
// of it, the trainer asks it every step.
#include <optional>
#include <string_view>

#include "base/units.hpp"

namespace cpplan::plan {

enum class Schedule { cosine, linear, constant, constant_with_warmup };

/// None for a schedule that we do not compute.
std::optional<Schedule> parse_schedule(std::string_view name);

/// transformers/optimization.py; cosine with a floor as axolotl's monkeypatch
/// (utils/schedulers.py).
struct LearningRate {
  double base = 0;
  Schedule schedule = Schedule::cosine;
  Index warmup_steps = 0, total_steps = 0;
  double min_lr_ratio = 0;  // of cosine alone

  /// Of optimizer step `step`, from 1: the scheduler has counted step - 1 steps by then, so that
  /// with a warm-up the first step is taken with 0.
  double at(Index step) const;
};

/// warmup_steps, else int(ratio * total), else min(int(0.03 * total), 100); and 1 becomes 2
/// (axolotl, core/builders/base.py).
Index count_warmup_steps(std::optional<Index> warmup_steps, std::optional<double> warmup_ratio,
                         Index total_steps);

}  // namespace cpplan::plan
