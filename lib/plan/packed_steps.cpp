#include "plan/packed_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/packing.hpp"
#include "plan/step_count.hpp"
#include "plan/trainer_count.hpp"

namespace cpplan::plan {
namespace {

/// total_num_tokens of the file where it is truthy, else what is counted.
std::optional<Index> tokens_of(const config::BatchSettings& b, std::optional<Index> given,
                               std::optional<Index> counted) {
  if (b.total_num_tokens.value_or(0) != 0) return b.total_num_tokens.value;
  return given ? given : counted;
}

std::string estimate_text(const PackingEstimate& e, double epochs, Index batch_size, double value) {
  return fmt::format("(floor(0.99 * {} tokens / {} / {} // {}) - 1) * {} epochs = {}", e.tokens,
                     e.efficiency, e.sequence_len, batch_size, epochs, value);
}

/// Micro-batches that tokens of this packing efficiency fill.
Index estimated_batches(const PackingEstimate& e, Index micro_batch_size) {
  const double batches =
      std::ceil(static_cast<double>(e.tokens) / e.efficiency / static_cast<double>(e.sequence_len) /
                static_cast<double>(micro_batch_size));
  return batches < largest_count && batches >= 0 ? static_cast<Index>(batches) : 0;
}

double measured_steps(Index batches, const config::TrainingConfig& config, const Batch& batch,
                      double epochs) {
  const LastBatch last =
      config.batch.dataloader_drop_last.value_or(false) ? LastBatch::drop : LastBatch::keep;
  return measured_value(data_loader_len(batches, batch.micro_batch_size, batch.batch_size), epochs,
                        last);
}

std::string measured_text(const config::TrainingConfig& config, const Batch& batch,
                          const Steps& steps, double value) {
  const Packing& p = *steps.packing;
  const bool drops = config.batch.dataloader_drop_last.value_or(false);
  return fmt::format(
      "{} bins in batches of {} = {}; max(1, {} * {} // {}) = {}; floor({} * {} epochs){} = {}",
      p.bins, p.bins_per_batch, p.batches, p.batches, batch.micro_batch_size, batch.batch_size,
      p.data_loader_len, p.data_loader_len, steps.num_epochs,
      drops ? fmt::format(" - ceil({})", steps.num_epochs) : "", value);
}

}  // namespace

void replay(const config::TrainingConfig& config, const Batch& batch,
            const SelectedLengths& lengths, Index world_size, Steps& steps) {
  if (!lengths.known || batch.batch_size < 1) return;
  auto [packing, batches] = replay_packing(config, batch, lengths.training(), world_size);
  packing.data_loader_len =
      data_loader_len(packing.batches, batch.micro_batch_size, batch.batch_size);
  const auto whole = [&](Index of) {
    return usable_count(measured_steps(of, config, batch, steps.num_epochs)).value_or(0);
  };
  packing.min_steps = whole(std::ranges::min(batches));
  packing.max_steps = whole(std::ranges::max(batches));
  steps.packing = std::move(packing);
}

void count_estimated(const config::TrainingConfig& config, const PlanInputs& inputs,
                     const Batch& batch, Steps& steps) {
  steps.path = "packing (estimate)";
  steps.total_num_tokens = tokens_of(config.batch, inputs.total_tokens, steps.total_num_tokens);
  if (!steps.total_num_tokens || *steps.total_num_tokens < 0 || batch.batch_size < 1) {
    steps.formula =
        "(floor(0.99 * tokens / sample_packing_eff_est / sequence_len // batch_size) - 1) * "
        "num_epochs: the tokens are not known";
    return;
  }
  const PackingEstimate e{*steps.total_num_tokens, *config.batch.sample_packing_eff_est,
                          batch.sequence_len};
  const Index batches =
      steps.packing ? steps.packing->batches : estimated_batches(e, batch.micro_batch_size);
  set_steps_of_epoch(batches, batch, last_batch(config), steps);
  const double value = estimated_value(e, steps.num_epochs, batch.batch_size);
  take_value(value, estimate_text(e, steps.num_epochs, batch.batch_size, value), steps);
}

void count_measured(const config::TrainingConfig& config, const Batch& batch, Steps& steps) {
  steps.path = "packing (measured)";
  if (!steps.packing) {
    steps.formula =
        "floor(max(1, bins * micro_batch_size // batch_size) * num_epochs): the lengths of the "
        "rows are not known (--lengths)";
    return;
  }
  const Packing& packing = *steps.packing;
  if (packing.batches < 1) {
    steps.formula = fmt::format("{} bins fill no batch of {}: there is nothing to train on",
                                packing.bins, packing.bins_per_batch);
    return;
  }
  set_steps_of_epoch(packing.batches, batch, last_batch(config), steps);
  const double value = measured_steps(packing.batches, config, batch, steps.num_epochs);
  take_value(value, measured_text(config, batch, steps, value), steps);
}

void count_eval_steps(const config::TrainingConfig& config, const PlanInputs& inputs,
                      const Batch& batch, const SelectedLengths& lengths, Index world_size,
                      Steps& steps) {
  if (inputs.eval_tokens) steps.eval_num_tokens = inputs.eval_tokens;
  const StepPath path = step_path(config);
  const bool packed = path == StepPath::estimate || path == StepPath::measured;
  if (!packed || !config.batch.eval_sample_packing.value_or(true) || batch.batch_size < 1) return;
  if (path == StepPath::estimate && steps.eval_num_tokens.value_or(-1) >= 0) {
    const PackingEstimate e{*steps.eval_num_tokens, *config.batch.sample_packing_eff_est,
                            batch.sequence_len};
    steps.eval_num_steps = estimated_value(e, steps.num_epochs, batch.batch_size);
  } else if (path == StepPath::measured && lengths.known && !lengths.validation().empty()) {
    const auto eval = replay_packing(config, batch, lengths.validation(), world_size);
    steps.eval_num_steps = measured_steps(eval.packing.batches, config, batch, steps.num_epochs);
  }
}

}  // namespace cpplan::plan
