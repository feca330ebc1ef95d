#pragma once
// Attention by its formula, in double or as a framework computes it in bf16 without a fused kernel:
// scores, probabilities, their gradients and every result rounded. The error of the latter is what
// the error of a fused kernel is measured by.
#include "kernels/cases/attention_problem.hpp"

namespace cpplan::kernels::test {

/// Inputs of a problem that are exact in bf16.
AttentionInputs bf16_inputs(const AttentionProblem& problem);

struct AttentionResults {
  Matrix out, lse;  // of rows that see no key: 0 and -inf
  Matrix dq, dk, dv;
};

enum class Rounding { none, bf16 };

AttentionResults attention_by_formula(const AttentionProblem& problem,
                                      const AttentionInputs& inputs, Rounding rounding);

}  // namespace cpplan::kernels::test
