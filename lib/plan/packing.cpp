#include "plan/packing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/checked.hpp"
#include "data/permutation.hpp"

namespace cpplan::plan {
namespace {

constexpr Index default_bin_size = 200, default_group_size = 100'000;  // utils/schemas/config.py
constexpr Index framework_samplings = 4;                               // num_count_samples
constexpr Index rows_to_replay = 8'000'000;                            // about a second of packing
constexpr Index fewest_replays = 3, most_replays = 16;
constexpr std::uint64_t replay_seed = 42;

bool is_sequential(const config::BatchSettings& b) {
  return b.curriculum_sampling.value_or(false);
}

/// An explicit 0 or null: then nothing but the capacity limits a bin.
bool is_falsy(const config::Setting<Index>& setting) {
  return setting.given() ? *setting == 0 : setting.key_span.placed();
}

Index replays_of(const config::BatchSettings& b, Index rows) {
  if (is_sequential(b)) return 1;
  return std::clamp(rows_to_replay / std::max<Index>(1, rows), fewest_replays, most_replays);
}

/// Tokens and room of the bins that make full batches.
struct Kept {
  Index tokens = 0, bins = 0;
};

Kept kept_bins(const data::BinCount& count, Index bins_per_batch) {
  const Index dropped = count.bins % bins_per_batch;
  const auto& fills = count.last_fills;
  const Index lost = std::accumulate(fills.end() - dropped, fills.end(), Index{0});
  return {count.tokens - lost, count.bins - dropped};
}

double share(Index tokens, Index bins, Index capacity) {
  const double room = static_cast<double>(bins) * static_cast<double>(capacity);
  return room > 0 ? static_cast<double>(tokens) / room : 0;
}

/// Adds one replay to the sums; the shares are divided by their number at the end.
struct Sums {
  std::vector<Index> bins, batches;
  double efficiency = 0, estimate = 0;

  void add(const data::BinCount& count, const Packing& packing) {
    const Kept kept = kept_bins(count, packing.bins_per_batch);
    bins.push_back(count.bins);
    batches.push_back(count.bins / packing.bins_per_batch);
    efficiency += share(kept.tokens, kept.bins, packing.bin_capacity);
    estimate += share(count.tokens, kept.bins, packing.bin_capacity);
  }
};

Sums replay(std::span<const data::Length> rows, const data::PackingRules& rules,
            const Packing& packing) {
  Sums sums;
  if (packing.sampler == SamplerKind::sequential) {
    sums.add(data::count_bins(rows, {}, rules, packing.bins_per_batch - 1), packing);
    return sums;
  }
  data::Permutations orders(replay_seed, std::ssize(rows));
  for (Index i = 0; i < packing.replays; ++i)
    sums.add(data::count_bins(rows, orders.next(), rules, packing.bins_per_batch - 1), packing);
  return sums;
}

Index mean(const std::vector<Index>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return std::llround(sum / static_cast<double>(values.size()));
}

Packing described(const config::TrainingConfig& config, const Batch& batch,
                  const data::PackingRules& rules, Index rows) {
  Packing packing;
  packing.method = rules.method == data::PackingMethod::first_fit ? "first-fit" : "next-fit";
  packing.sampler = is_sequential(config.batch) ? SamplerKind::sequential : SamplerKind::random;
  packing.bin_capacity = rules.capacity;
  packing.bins_per_batch = bins_per_batch(config, batch);
  packing.rows_per_bin = rules.rows_per_bin;
  packing.group_size = rules.group_size;
  packing.replays = replays_of(config.batch, rows);
  return packing;
}

}  // namespace

bool attends_by_document(const config::FeatureSettings& f) {
  if (f.flash_attention.value_or(false) || f.flex_attention.value_or(false) ||
      f.xformers_attention.value_or(false) || f.sage_attention.value_or(false))
    return true;
  constexpr std::array<std::string_view, 5> known = {"flash_attention_2", "flash_attention_3",
                                                     "flex_attention", "xformers", "sage"};
  const std::string name = f.attn_implementation.value_or("");
  return std::ranges::count(known, name) > 0 || name.starts_with("kernels-community/");
}

Index bins_per_batch(const config::TrainingConfig& config, const Batch& batch) {
  const bool one_row =
      attends_by_document(config.features) && !config.batch.multipack_real_batches.value_or(false);
  return one_row ? 1 : batch.micro_batch_size;
}

data::PackingRules packing_rules(const config::TrainingConfig& config, const Batch& batch) {
  const auto& b = config.batch;
  const auto usable = [](const config::Setting<Index>& setting, Index fallback) {
    return is_count(setting) ? *setting : fallback;
  };
  const Index rows_of_bin = bins_per_batch(config, batch) == 1 ? batch.micro_batch_size : 1;
  data::PackingRules rules;
  rules.capacity = checked_multiply(rows_of_bin, batch.sequence_len).value_or(batch.sequence_len);
  if (b.sample_packing_sequentially.value_or(false)) rules.method = data::PackingMethod::next_fit;
  rules.rows_per_bin =
      usable(b.sample_packing_bin_size,
             is_falsy(b.sample_packing_bin_size) ? rules.capacity : default_bin_size);
  rules.group_size = usable(b.sample_packing_group_size, default_group_size);
  return rules;
}

double expected_least(std::vector<Index> values, Index samplings) {
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  const auto power = static_cast<double>(samplings);
  double expected = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double above = count - static_cast<double>(i);  // values from this one on
    const double chance = std::pow(above / count, power) - std::pow((above - 1) / count, power);
    expected += chance * static_cast<double>(values[i]);
  }
  return expected;
}

PackingReplay replay_packing(const config::TrainingConfig& config, const Batch& batch,
                             std::span<const data::Length> rows, Index world_size) {
  const data::PackingRules rules = packing_rules(config, batch);
  PackingReplay result{described(config, batch, rules, std::ssize(rows)), {}};
  Packing& packing = result.packing;
  const Sums sums = replay(rows, rules, packing);
  packing.bins = mean(sums.bins);
  packing.min_bins = std::ranges::min(sums.bins);
  packing.max_bins = std::ranges::max(sums.bins);
  const Index samplings = world_size >= framework_samplings ? 1 : framework_samplings;
  packing.batches = std::llround(expected_least(sums.batches, samplings));
  packing.efficiency = sums.efficiency / static_cast<double>(packing.replays);
  const double estimate = sums.estimate / static_cast<double>(packing.replays);
  packing.sample_packing_eff_est = std::ceil(estimate * 100.0) / 100.0;
  result.batches = sums.batches;
  return result;
}

}  // namespace cpplan::plan
