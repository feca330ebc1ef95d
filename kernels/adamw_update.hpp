#pragma once
// The scalars of an AdamW step, computed in double and rounded once, so that every backend of f32
// updates with the same ones.
#include <cmath>

#include "kernels/ops.hpp"

namespace cpplan::kernels {

/// Of one op (Loshchilov and Hutter, arXiv 1711.05101); corrections are 1 / (1 - beta^step).
struct AdamWUpdate {
  float grad_scale, beta1, beta2, one_minus_beta1, one_minus_beta2;
  float first_correction, second_correction;
  float learning_rate, epsilon, weight_decay;

  explicit AdamWUpdate(const AdamW& op)
      : grad_scale(static_cast<float>(op.grad_scale)),
        beta1(static_cast<float>(op.beta1)),
        beta2(static_cast<float>(op.beta2)),
        one_minus_beta1(static_cast<float>(1 - op.beta1)),
        one_minus_beta2(static_cast<float>(1 - op.beta2)),
        first_correction(correction(op.beta1, op.step)),
        second_correction(correction(op.beta2, op.step)),
        learning_rate(static_cast<float>(op.learning_rate)),
        epsilon(static_cast<float>(op.epsilon)),
        weight_decay(static_cast<float>(op.weight_decay)) {}

  static float correction(double beta, Index step) {
    return static_cast<float>(1 / (1 - std::pow(beta, static_cast<double>(step))));
  }
};

}  // namespace cpplan::kernels
