#include "plan/megatron_batch.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/checked.hpp"
#include "plan/batch.hpp"
#include "plan/trainer_count.hpp"

namespace cpplan::plan {
namespace {

constexpr Index most_phases = 1 << 16;  // beyond these a number is a mistake
constexpr Index default_vocab_multiple = 128;

Index usable_or(const config::Setting<Index>& setting, Index fallback) {
  return is_count(setting) ? *setting : fallback;
}

/// int(float(text) * suffix), as StepBatchsizeNumMicroBatchesCalculator reads both numbers.
std::optional<Index> parse_scaled(std::string_view text) {
  constexpr std::string_view suffixes = "KMBT";
  double scale = 1;
  if (!text.empty()) {
    const auto power = suffixes.find(static_cast<char>(std::toupper(text.back())));
    if (power != suffixes.npos) {
      scale = std::pow(1000.0, static_cast<double>(power + 1));
      text.remove_suffix(1);
    }
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const double scaled = value * scale;
  if (!(scaled >= 0) || scaled > largest_count) return std::nullopt;
  return static_cast<Index>(scaled);
}

/// "90B:64"
std::optional<BatchPhase> parse_phase(std::string_view entry, Index sequence_len) {
  const auto colon = entry.find(':');
  if (colon == entry.npos) return std::nullopt;
  const auto tokens = parse_scaled(entry.substr(0, colon));
  const auto size = parse_scaled(entry.substr(colon + 1));
  if (!tokens || !size || *size < 1) return std::nullopt;
  return BatchPhase{*tokens / std::max<Index>(1, sequence_len), *size};
}

bool grows_from_zero(const std::vector<BatchPhase>& phases) {
  if (phases.empty() || phases.front().from_samples != 0) return false;
  return std::adjacent_find(phases.begin(), phases.end(), [](const auto& a, const auto& b) {
           return a.from_samples >= b.from_samples;
         }) == phases.end();
}

/// First count of samples at which int(samples / part) is `increments`.
Index first_with(Index increments, double part) {
  auto samples = static_cast<Index>(static_cast<double>(increments) * part);
  const auto reached = [&](Index n) {
    return static_cast<Index>(static_cast<double>(n) / part) >= increments;
  };
  while (samples > 0 && reached(samples - 1)) --samples;
  while (!reached(samples)) ++samples;
  return samples;
}

std::optional<Index> scheduled_batch(const config::TrainingConfig& config, Index sequence_len) {
  const auto& schedule = config.megatron.step_batch_size_schedule;
  if (!schedule.given()) return std::nullopt;
  const auto phases = parse_batch_schedule(*schedule, sequence_len);
  return phases ? std::optional(phases->back().global_batch_size) : std::nullopt;
}

}  // namespace

std::optional<std::vector<BatchPhase>> parse_batch_schedule(std::string_view text,
                                                            Index sequence_len) {
  constexpr std::string_view separators = " \t,";
  std::vector<BatchPhase> phases;
  for (std::size_t at = text.find_first_not_of(separators); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    const auto phase = parse_phase(text.substr(at, end - at), sequence_len);
    if (!phase) return std::nullopt;
    phases.push_back(*phase);
    at = text.find_first_not_of(separators, end);
  }
  std::stable_sort(phases.begin(), phases.end(),
                   [](const auto& a, const auto& b) { return a.from_samples < b.from_samples; });
  return grows_from_zero(phases) ? std::optional(std::move(phases)) : std::nullopt;
}

std::optional<std::vector<BatchPhase>> rampup_phases(const std::vector<Index>& rampup,
                                                     Index global_batch_size) {
  if (rampup.size() != 3 || rampup[0] < 1 || rampup[1] < 1 || rampup[2] < 1) return std::nullopt;
  const Index start = rampup[0], increment = rampup[1], samples = rampup[2];
  const Index growth = global_batch_size - start;
  if (growth < increment || growth % increment != 0) return std::nullopt;
  const Index increments = growth / increment;
  if (increments > most_phases || samples < increments || samples > Index{1} << 52)
    return std::nullopt;
  const double part = static_cast<double>(samples) / static_cast<double>(increments);
  std::vector<BatchPhase> phases{{0, start}};
  for (Index n = 1; n < increments; ++n)
    phases.push_back({first_with(n, part), start + n * increment});
  // At exactly `samples` the formula has reached the last increment, too.
  phases.push_back({std::min(first_with(increments, part), samples + 1), global_batch_size});
  return phases;
}

Index megatron_global_batch(const config::TrainingConfig& config, const Batch& batch) {
  if (const auto scheduled = scheduled_batch(config, batch.sequence_len)) return *scheduled;
  const auto unit = checked_multiply(batch.micro_batch_size, batch.effective_world_size);
  return usable_or(config.megatron.global_batch_size, unit.value_or(0));
}

Batch make_megatron_batch(const config::TrainingConfig& config, Index data_parallel_size) {
  const auto& b = config.batch;
  Batch batch;
  batch.micro_batch_size = usable_or(b.micro_batch_size, 1);
  batch.eval_batch_size = usable_or(b.eval_batch_size, batch.micro_batch_size);
  batch.effective_world_size = data_parallel_size;
  batch.sequence_len = std::min(usable_or(b.sequence_len, 1), longest_sequence);
  const auto unit = checked_multiply(batch.micro_batch_size, data_parallel_size);
  if (!unit) {
    batch.batch_size = 0;
    return batch;
  }
  const Index global = megatron_global_batch(config, batch);
  batch.gradient_accumulation_steps = std::max<Index>(1, global / *unit);
  const bool decreases = config.megatron.decrease_batch_size_if_needed.value_or(false);
  batch.batch_size = decreases ? batch.gradient_accumulation_steps * *unit : global;
  batch.tokens_per_step = checked_multiply(batch.batch_size, batch.sequence_len).value_or(0);
  return batch;
}

std::optional<std::vector<BatchPhase>> batch_phases(const config::TrainingConfig& config,
                                                    const Batch& batch) {
  const auto& m = config.megatron;
  const Index global = megatron_global_batch(config, batch);
  if (global < 1) return std::nullopt;
  if (m.step_batch_size_schedule.given())
    return parse_batch_schedule(*m.step_batch_size_schedule, batch.sequence_len);
  if (m.rampup_batch_size.given()) return rampup_phases(*m.rampup_batch_size, global);
  return std::vector<BatchPhase>{{0, global}};
}

Index iterations_of(const std::vector<BatchPhase>& phases, Index samples) {
  Index consumed = 0, iterations = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const Index size = phases[i].global_batch_size;
    const Index whole = (samples - consumed) / size;  // batches that there are samples for
    if (i + 1 == phases.size()) return iterations + whole;
    const Index left = std::max<Index>(0, phases[i + 1].from_samples - consumed);
    const Index needed = ceil_div(left, size);
    if (whole < needed) return iterations + whole;
    consumed += needed * size;
    iterations += needed;
  }
  return iterations;
}

std::optional<Index> padded_vocab_size(const config::TrainingConfig& config,
                                       Index tensor_parallel_size) {
  const auto& m = config.megatron;
  if (is_count(m.padded_vocab_size)) return m.padded_vocab_size.value;
  if (!is_count(config.model.vocab_size)) return std::nullopt;
  const auto multiple = checked_multiply(
      usable_or(m.make_vocab_size_divisible_by, default_vocab_multiple), tensor_parallel_size);
  if (!multiple) return std::nullopt;
  const Index blocks = (*config.model.vocab_size - 1) / *multiple + 1;
  return checked_multiply(blocks, *multiple);
}

}  // namespace cpplan::plan
