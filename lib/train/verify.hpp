#pragma once
// Proof that a layout does not change the mathematics: the same run on its ranks and on one rank.
#include <functional>

#include "base/result.hpp"
#include "train/gradients.hpp"
#include "train/step_limit.hpp"
#include "train/training_run.hpp"

namespace cpplan::train {

/// What of a run must not depend on its layout.
struct Trained {
  std::vector<double> losses, grad_norms;  // of each step
  WholeTensors gradients;                  // of step 1, of the mean loss
};

/// How far a parameter's gradient is from one rank's: |a - b| / max(|b|, 1e-3 |all b|).
struct GradientDistance {
  std::string parameter;
  double distance = 0;
  double norm = 0;  // |b|
};

/// Relative: |a - b| / |b| of losses and gradient norms; distances of gradients. fp32 sums in other
/// orders; a step that is not the same differs by orders of magnitude more. In bf16 they are twice
/// what one bf16 rank is from one fp32 rank, or one rounding where that is more.
struct VerifyBounds {
  double loss = 1e-5, grad_norm = 1e-5, gradient = 1e-5;
};

struct Verification {
  Trained in_layout, on_one_rank;           // the latter in fp32
  std::vector<GradientDistance> gradients;  // in the order of the names
  VerifyBounds bounds;

  const GradientDistance& worst() const;
  double loss_difference(std::size_t step) const;  // relative, step from 0
  double grad_norm_difference(std::size_t step) const;
  /// Empty where the bounds hold; else a sentence for each that does not, the worst parameter
  /// first.
  std::vector<std::string> broken() const;
};

/// Steps that verify() takes in all: of the layout, of one rank, and in bf16 of one fp32 rank.
Index steps_to_verify(const TrainingRun& run);
/// Called with those done so far.
using VerifyListener = std::function<void(Index done)>;

/// Trains `run` on threads of this process, then on one rank. Error: what a rank that failed said
/// first.
Result<Verification> verify(const TrainingRun& run, StepLimit limit, const VerifyListener&);

}  // namespace cpplan::train
