#include "plan/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cpplan::plan {
namespace {

using Lengths = std::vector<data::Length>;

constexpr Index shortest_row = 2;  // one token to read, one to predict; where min_sample_len is 0

/// The rows on their way: a count, and their lengths where those are known.
struct Loaded {
  std::optional<Index> count;
  Lengths lengths;
  bool known = false;
};

void explain(Steps& steps, std::string name, std::string text) {
  steps.formulas.push_back({std::move(name), std::move(text)});
}

Loaded load(const PlanInputs& inputs, Steps& steps) {
  Loaded loaded;
  if (inputs.lengths) {
    if (inputs.lengths->unit == data::LengthUnit::bytes)
      explain(steps, "lengths",
              fmt::format("bytes of the text in {}: a tokenizer makes fewer tokens of it",
                          inputs.lengths->source));
    loaded.lengths = inputs.lengths->rows;
    loaded.count = std::ssize(loaded.lengths);
    loaded.known = true;
  } else {
    loaded.count = inputs.rows;
  }
  return loaded;
}

/// datasets[].shards: a shard of the shuffled dataset. Which rows it holds is not known beforehand;
/// every n-th stands for them.
void take_dataset_shard(const std::vector<config::DatasetSettings>& datasets, Loaded& loaded,
                        Steps& steps) {
  const auto sharded = std::ranges::find_if(
      datasets, [](const auto& dataset) { return dataset.shards.value_or(0) > 1; });
  if (sharded == datasets.end() || !loaded.count) return;
  const Index shards = *sharded->shards, index = sharded->shards_idx.value_or(0);
  if (datasets.size() > 1 || index < 0 || index >= shards) {
    explain(steps, "rows",
            "the shards of one of several datasets cannot be taken off their sum: give the rows "
            "that are left with --train-rows");
    loaded = {};
    return;
  }
  explain(steps, "rows",
          fmt::format("shard {} of {} of {} rows = {}", index, shards, *loaded.count,
                      shard_rows(*loaded.count, shards, index)));
  loaded.count = shard_rows(*loaded.count, shards, index);
  for (Index i = 0; i < *loaded.count && loaded.known; ++i)
    loaded.lengths[i] = loaded.lengths[i * shards + index];
  if (loaded.known) loaded.lengths.resize(static_cast<std::size_t>(*loaded.count));
}

enum class Excess { drop, truncate, refuse };

/// Null and what is no strategy (an error of config) count as drop.
Excess excess_strategy(const config::BatchSettings& b) {
  const std::string name = b.excess_length_strategy.value_or("drop");
  return name == "truncate" ? Excess::truncate : name == "raise" ? Excess::refuse : Excess::drop;
}

/// Not where datasets are taken as they are, nor on-policy, where a row is a prompt.
bool filters_by_length(const config::TrainingConfig& config) {
  const std::string rl = config.features.rl.value_or("");
  return !config.batch.skip_prepare_dataset.value_or(false) && rl != "grpo" && rl != "gdpo" &&
         rl != "ebft";
}

/// min_sample_len where it is truthy, else 2. Where that would leave no row at all, the lengths are
/// an example of packing rather than a dataset, and are packed as they stand.
Index least_length(const config::BatchSettings& b, const Lengths& lengths) {
  if (b.min_sample_len.value_or(0) != 0) return *b.min_sample_len;
  const bool none_left =
      std::ranges::all_of(lengths, [](data::Length length) { return length < shortest_row; });
  return none_left ? 0 : shortest_row;
}

void filter_by_length(const config::BatchSettings& b, Index sequence_len, Loaded& loaded,
                      Steps& steps) {
  const Index least = least_length(b, loaded.lengths);
  const Excess excess = excess_strategy(b);
  const auto is_short = [&](data::Length length) { return length < least; };
  const auto is_long = [&](data::Length length) { return length > sequence_len; };
  steps.rows_too_long = std::ranges::count_if(loaded.lengths, is_long);
  steps.rows_too_short = std::erase_if(loaded.lengths, is_short);
  if (excess == Excess::drop) std::erase_if(loaded.lengths, is_long);
  if (excess == Excess::truncate)
    for (data::Length& length : loaded.lengths)
      length = static_cast<data::Length>(std::min<Index>(length, sequence_len));
  explain(
      steps, "rows",
      fmt::format("{} loaded, {} shorter than {} dropped, {} longer than sequence_len {} {}: {}",
                  *loaded.count, *steps.rows_too_short, least, *steps.rows_too_long, sequence_len,
                  excess == Excess::drop       ? "dropped"
                  : excess == Excess::truncate ? "cut"
                                               : "refused",
                  loaded.lengths.size()));
  loaded.count = std::ssize(loaded.lengths);
}

/// dataset_shard_num, only with dataset_shard_idx, and only outside of preference training.
void take_shard(const config::TrainingConfig& config, Loaded& loaded, Steps& steps) {
  const auto& number = config.batch.dataset_shard_num;
  const auto& index = config.batch.dataset_shard_idx;
  const bool sharded = number.given() && index.given() && !trains_preferences(config);
  if (!sharded || *number < 1 || *index < 0 || *index >= *number) return;
  const Index rows = *loaded.count, count = shard_rows(rows, *number, *index);
  explain(steps, "rows_after_shard",
          fmt::format("shard {} of {} of {} rows = {}", *index, *number, rows, count));
  steps.rows_after_shard = loaded.count = count;
  if (!loaded.known) return;
  const Index first = rows / *number * *index + std::min(*index, rows % *number);
  loaded.lengths.erase(loaded.lengths.begin() + first + count, loaded.lengths.end());
  loaded.lengths.erase(loaded.lengths.begin(), loaded.lengths.begin() + first);
}

Index sum(std::span<const data::Length> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), Index{0});
}

void split(const config::BatchSettings& b, const Loaded& loaded, Steps& steps) {
  const double size = b.val_set_size.value_or(0.0);
  const RowSplit split = split_rows(*loaded.count, size);
  steps.train_rows = split.train;
  steps.eval_rows = split.eval;
  if (!split.train) return;
  const Index rows = *loaded.count;
  explain(steps, "train_rows",
          size > 1 ? fmt::format("{} rows - val_set_size {} = {}", rows, *split.eval, *split.train)
                   : fmt::format("{} rows - ceil({} * {}) = {} - {} = {}", rows, size, rows, rows,
                                 *split.eval, *split.train));
}

SelectedLengths selected(Loaded loaded, Steps& steps) {
  if (!loaded.known || !steps.train_rows) return {};
  SelectedLengths lengths{std::move(loaded.lengths), *steps.train_rows, true};
  steps.total_num_tokens = sum(lengths.training());
  if (steps.eval_rows.value_or(0) > 0) steps.eval_num_tokens = sum(lengths.validation());
  return lengths;
}

}  // namespace

bool trains_preferences(const config::TrainingConfig& config) {
  return config.features.rl.given();
}

Index shard_rows(Index rows, Index shards, Index index) {
  return rows / shards + (index < rows % shards ? 1 : 0);
}

RowSplit split_rows(Index rows, double val_set_size) {
  if (!(val_set_size >= 0) || val_set_size == 1.0) return {};
  const double share = std::ceil(val_set_size * static_cast<double>(rows));
  const double eval = val_set_size > 1 ? std::trunc(val_set_size) : share;
  if (eval >= static_cast<double>(rows) && eval > 0) return {};
  const auto count = static_cast<Index>(eval);
  return {rows - count, count};
}

SelectedLengths select_rows(const config::TrainingConfig& config, const PlanInputs& inputs,
                            Index sequence_len, Steps& steps) {
  Loaded loaded = load(inputs, steps);
  steps.rows = loaded.count;
  take_dataset_shard(config.datasets, loaded, steps);
  if (loaded.known && filters_by_length(config))
    filter_by_length(config.batch, sequence_len, loaded, steps);
  if (loaded.count) {
    take_shard(config, loaded, steps);
    split(config.batch, loaded, steps);
  }
  if (inputs.train_rows && !loaded.known) {
    steps.rows = steps.rows_after_shard = steps.eval_rows = std::nullopt;
    steps.train_rows = inputs.train_rows;
  }
  return selected(std::move(loaded), steps);
}

}  // namespace cpplan::plan
