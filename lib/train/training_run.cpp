#include "train/training_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/model_folder.hpp"
#include "plan/make_plan.hpp"
#include "train/restore.hpp"

namespace cpplan::train {
namespace {

/// Rows that a CP rank needs for the micro-batch of samples first, first + 1, ...
Index rows_needed(const TrainingRun& run, Index first) {
  std::vector<layout::DocumentLength> documents;
  for (Index i = 0; i < run.job.micro_batch_size; ++i)
    for (const Index tokens : run.samples.lengths(first + i)) documents.push_back({tokens, i});
  const layout::Split split = run.job.context_parallel.split;
  return layout::SequenceMap::padded(split, run.job.dims.cp, documents,
                                     engine::rows_multiple(run.job.dims, split))
      .rows();
}

/// The micro-batches of a run are its samples in order, cut into equal pieces.
Index largest_rows(const TrainingRun& run) {
  Index rows = 0;
  const Index samples = run.steps * run.samples_per_step();
  for (Index first = 0; first < samples; first += run.job.micro_batch_size)
    rows = std::max(rows, rows_needed(run, first));
  return rows;
}

Result<Index> steps_of(const plan::Steps& steps, std::optional<Index> wanted) {
  if (wanted) return *wanted;
  if (steps.trainer_max_steps) return *steps.trainer_max_steps;
  if (steps.total_num_steps) return *steps.total_num_steps;
  return failure(
      "the number of steps is not known (neither rows nor max_steps say). use --steps 100");
}

Result<plan::LearningRate> learning_rate_of(const plan::Steps& steps, Index taken) {
  const auto schedule = plan::parse_schedule(steps.lr_scheduler);
  if (!schedule)
    return failure(fmt::format("lr_scheduler \"{}\" is not one that we compute. use cosine",
                               steps.lr_scheduler));
  const Index planned = steps.trainer_max_steps.value_or(steps.total_num_steps.value_or(taken));
  return plan::LearningRate{.base = steps.learning_rate,
                            .schedule = *schedule,
                            .warmup_steps = steps.warmup_steps.value_or(0),
                            .total_steps = std::max(taken, planned),
                            .min_lr_ratio = steps.min_lr_ratio};
}

/// The folder of base_model, where it has weights and the plan is for that very model.
Result<std::filesystem::path> weights_of(const plan::Plan& plan) {
  const auto& named = plan.config.model.base_model;
  const std::filesystem::path folder = named.value_or("");
  const bool whole = plan.model && named.given() && folder == plan.model->name;
  if (!whole || !checkpoint::has_weights(folder)) return std::filesystem::path();
  if (const auto right = check_weights(folder, *plan.model); !right)
    return tl::unexpected(right.error());
  return folder;
}

}  // namespace

Result<TrainingRun> make_training_run(const plan::Plan& plan, const TrainingData& data,
                                      std::optional<Index> wanted) {
  auto job = plan::make_job(plan);
  if (!job) return tl::unexpected(job.error());
  const auto steps = steps_of(plan.steps, wanted);
  if (!steps) return tl::unexpected(steps.error());
  const auto learning_rate = learning_rate_of(plan.steps, *steps);
  if (!learning_rate) return tl::unexpected(learning_rate.error());
  const auto weights = weights_of(plan);
  if (!weights) return tl::unexpected(weights.error());
  TrainingRun run{.job = std::move(*job),
                  .samples = data.samples,
                  .learning_rate = *learning_rate,
                  .steps = *steps,
                  .data_hash = data.hash,
                  .checkpoints = plan.checkpoints,
                  .weights = *weights};
  run.job.capacity = largest_rows(run);
  return run;
}

TrainingRun on_one_rank(const TrainingRun& run) {
  TrainingRun one = run;
  engine::Job& job = one.job;
  job.dims = {};
  job.order = layout::megatron_order;
  job.virtual_stages = 1;
  job.stage_layers = {static_cast<int>(job.model.num_hidden_layers)};
  job.context_parallel = {};
  job.data_parallel = {};
  job.recompute = engine::Recompute::none;
  job.micro_batches = run.job.micro_batches * run.job.dims.dp;
  job.capacity = largest_rows(one);
  return one;
}

checkpoint::DataPosition data_position(const TrainingRun& run, Index step) {
  return {.samples = step * run.samples_per_step(),
          .samples_per_step = run.samples_per_step(),
          .samples_per_epoch = run.samples.samples_per_epoch(),
          .sequence_len = run.samples.sequence_len(),
          .seed = run.job.seed,
          .hash = run.data_hash};
}

engine::MicroBatch micro_batch(const TrainingRun& run, Index step, int micro, int dp) {
  const Index size = run.job.micro_batch_size;
  const Index first =
      (step - 1) * run.samples_per_step() + (Index{micro} * run.job.dims.dp + dp) * size;
  engine::MicroBatch result;
  result.first_sample = static_cast<std::uint32_t>(first);
  for (Index i = 0; i < size; ++i) {
    const data::Sample sample = run.samples.at(first + i);
    for (const Index tokens : sample.documents) result.documents.push_back({tokens, i});
    result.tokens.insert(result.tokens.end(), sample.tokens.begin(), sample.tokens.end());
    result.labels.insert(result.labels.end(), sample.labels.begin(), sample.labels.end());
  }
  return result;
}

}  // namespace cpplan::train
