#pragma once
// How the framework counts steps, in its own order of evaluation (axolotl, utils/trainer.py): its
// rounding is part of the answer, so these are doubles, and a count may be negative or fractional.
#include "base/units.hpp"

namespace cpplan::plan {

/// What older versions multiplied steps by: sizes of CP and TP. 1 changes no double.
struct StepFactors {
  Index context = 1, tensor = 1;
};

/// x // y of Python's floats (Objects/floatobject.c).
double floor_divide(double x, double y);

/// ceil(rows * epochs / batch).
double plain_value(Index rows, double epochs, Index batch_size, StepFactors = {});

struct PackingEstimate {
  Index tokens = 0;
  double efficiency = 1;  // sample_packing_eff_est
  Index sequence_len = 1;
};

/// (floor(0.99 * tokens / efficiency / sequence_len // batch) - 1) * epochs.
double estimated_value(const PackingEstimate&, double epochs, Index batch_size, StepFactors = {});

/// max(1, batches * micro // batch): steps of one epoch.
Index data_loader_len(Index batches, Index micro_batch_size, Index batch_size);

/// ceil(n / d) of numbers up to the largest. Contract: n >= 0, d >= 1.
constexpr Index whole_parts(Index n, Index d) {
  return n / d + (n % d != 0 ? 1 : 0);
}

/// What becomes of a last batch that is not full.
enum class LastBatch { keep, drop };

/// floor(data_loader_len * epochs), less ceil(epochs) where last batches are dropped.
double measured_value(Index data_loader_len, double epochs, LastBatch, StepFactors = {});

/// Optimizer steps of one epoch as Hugging Face's trainer counts them: `batches` micro-batches are
/// dealt to the data-parallel ranks, and a rest of the accumulation is a step (trainer.py).
Index steps_of_epoch(Index batches, Index data_parallel_size, Index accumulation, LastBatch);

}  // namespace cpplan::plan
