#pragma once
// One run, decided to the last number before any rank starts: the same on every rank, which they
// prove to each other by its hash.
#include <filesystem>

#include "checkpoint/manifest.hpp"
#include "engine/micro_batch.hpp"
#include "plan/learning_rate.hpp"
#include "train/training_data.hpp"

namespace cpplan::train {

struct TrainingRun {
  engine::Job job;
  data::SampleSource samples;
  plan::LearningRate learning_rate;
  Index steps = 0;
  std::uint64_t data_hash = 0;
  std::optional<plan::Checkpoints> checkpoints;
  std::filesystem::path weights;  // a model folder to begin with; empty: they are drawn

  Index samples_per_step() const {
    return Index{job.micro_batches} * job.micro_batch_size * job.dims.dp;
  }
};

/// `steps`: of --steps, the first of those that the plan has; none: all of them. Error where the
/// engine cannot run the plan, nothing says how many steps it takes, or the weights of base_model
/// cannot be used.
Result<TrainingRun> make_training_run(const plan::Plan&, const TrainingData&,
                                      std::optional<Index> steps);

/// The same samples in the same steps on one rank: what other data-parallel ranks take in parallel
/// are further micro-batches of it.
TrainingRun on_one_rank(const TrainingRun&);

/// Where the run stands in its data after `step` steps.
checkpoint::DataPosition data_position(const TrainingRun&, Index step);

/// Micro-batch `micro` of step `step` (from 1) on data-parallel rank `dp`: the samples from
/// (step - 1) * G + (micro * DP + dp) * micro_batch_size on, G samples a step.
engine::MicroBatch micro_batch(const TrainingRun&, Index step, int micro, int dp);

}  // namespace cpplan::train
