#include "plan/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/learning_rate.hpp"

namespace cpplan::plan {
namespace {

constexpr double largest_count = 9007199254740992.0;  // 2^53: every count below is exact

/// 0 is falsy upstream and -1 is Hugging Face's "use epochs": both mean unset. Others below 1 are
/// an error that rules/ reports.
std::optional<Index> effective_max_steps(const config::BatchSettings& b) {
  return b.max_steps.given() && *b.max_steps >= 1 ? b.max_steps.value : std::nullopt;
}

bool streams(const config::TrainingConfig& config) {
  return config.batch.streaming.value_or(false) ||
         config.features.pretraining_dataset.value_or(false);
}

/// Only with both keys, and only outside of preference training (axolotl, utils/data/sft.py).
Index take_shard(const config::TrainingConfig& config, Index rows, Steps& steps) {
  const auto& number = config.batch.dataset_shard_num;
  const auto& index = config.batch.dataset_shard_idx;
  const bool sharded = number.given() && index.given() && !config.features.rl.given();
  if (!sharded || *number < 1 || *index < 0 || *index >= *number) return rows;
  steps.rows_after_shard = shard_rows(rows, *number, *index);
  return *steps.rows_after_shard;
}

void take_rows(const config::TrainingConfig& config, const PlanInputs& inputs, Steps& steps) {
  if (inputs.train_rows) {
    steps.train_rows = inputs.train_rows;
  } else if (inputs.rows) {
    steps.rows = inputs.rows;
    const Index rows = take_shard(config, *inputs.rows, steps);
    const Split split = split_rows(rows, config.batch.val_set_size.value_or(0.0));
    steps.train_rows = split.train;
    steps.eval_rows = split.eval;
  }
}

void count_plain(const Batch& batch, Steps& steps) {
  steps.path = "plain";
  if (!steps.train_rows) {
    steps.formula = "ceil(rows * num_epochs / batch_size): the rows are not known";
    return;
  }
  steps.total_num_steps = plain_steps(*steps.train_rows, steps.num_epochs, batch.batch_size);
  if (steps.total_num_steps)
    steps.formula = fmt::format("ceil({} rows * {} epochs / {}) = {}", *steps.train_rows,
                                steps.num_epochs, batch.batch_size, *steps.total_num_steps);
}

void count_from_data(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  if (streams(config)) {
    steps.path = "streaming";
    steps.formula = "max_steps: a stream has no length";
  } else if (config.batch.sample_packing.value_or(false)) {
    steps.path = "packing";
    steps.formula = "bins of packed rows: the lengths of the rows are not known";
  } else {
    count_plain(batch, steps);
  }
}

/// min(counted, max_steps) is what the framework logs and warms up over; its trainer gets max_steps
/// as it stands and runs on over the data.
void apply_max_steps(const config::BatchSettings& b, Steps& steps) {
  steps.trainer_max_steps = steps.total_num_steps;
  const auto most = effective_max_steps(b);
  if (!most) return;
  steps.trainer_max_steps = most;
  if (!steps.total_num_steps) {
    steps.total_num_steps = most;
    steps.formula = fmt::format("max_steps = {}", *most);
    if (steps.path != "streaming") steps.path = "max_steps";
    return;
  }
  const Index counted = *steps.total_num_steps;
  steps.total_num_steps = std::min(counted, *most);
  steps.formula +=
      fmt::format("; min({}, max_steps {}) = {}", counted, *most, *steps.total_num_steps);
  if (*most < counted) steps.path = "max_steps";
}

std::vector<LearningRatePoint> four_points(const LearningRate& rate) {
  const Index last = rate.total_steps;
  const Index warm = std::min(rate.warmup_steps + 1, last);
  std::vector<LearningRatePoint> points;
  for (const auto& [at, step] : {std::pair<const char*, Index>{"first step", 1},
                                 {"end of warm-up", warm},
                                 {"half way", std::max<Index>(1, last / 2)},
                                 {"last step", last}})
    points.push_back({at, step, rate.at(step)});
  return points;
}

void schedule_learning_rate(const config::OptimizerSettings& o, Steps& steps) {
  steps.learning_rate = o.learning_rate.value_or(0.0);
  steps.lr_scheduler = o.lr_scheduler.value_or("cosine");
  steps.min_lr_ratio = o.cosine_min_lr_ratio.value_or(0.0);
  if (!steps.total_num_steps || *steps.total_num_steps < 1) return;
  steps.warmup_steps =
      count_warmup_steps(o.warmup_steps.value, o.warmup_ratio.value, *steps.total_num_steps);
  const auto schedule = parse_schedule(steps.lr_scheduler);
  if (!schedule || !o.learning_rate.given()) return;
  steps.learning_rates = four_points({steps.learning_rate, *schedule, *steps.warmup_steps,
                                      *steps.trainer_max_steps, steps.min_lr_ratio});
}

}  // namespace

Index shard_rows(Index rows, Index shards, Index index) {
  return rows / shards + (index < rows % shards ? 1 : 0);
}

Split split_rows(Index rows, double val_set_size) {
  if (!(val_set_size >= 0) || val_set_size == 1.0) return {};
  const double share = std::ceil(val_set_size * static_cast<double>(rows));
  const double eval = val_set_size > 1 ? std::trunc(val_set_size) : share;
  if (eval >= static_cast<double>(rows) && eval > 0) return {};
  const auto count = static_cast<Index>(eval);
  return {rows - count, count};
}

std::optional<Index> plain_steps(Index rows, double num_epochs, Index batch_size) {
  if (batch_size < 1 || rows < 0) return std::nullopt;
  const double steps =
      std::ceil(static_cast<double>(rows) * num_epochs / static_cast<double>(batch_size));
  if (!(steps >= 0) || steps > largest_count) return std::nullopt;
  return static_cast<Index>(steps);
}

Steps count_steps(const config::TrainingConfig& config, const PlanInputs& inputs,
                  const Batch& batch) {
  Steps steps;
  steps.num_epochs = config.batch.num_epochs.value_or(1.0);
  take_rows(config, inputs, steps);
  count_from_data(config, batch, steps);
  apply_max_steps(config.batch, steps);
  schedule_learning_rate(config.optimizer, steps);
  return steps;
}

}  // namespace cpplan::plan
