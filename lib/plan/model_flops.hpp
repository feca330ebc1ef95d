#pragma once
// FLOPs of a training step by closed formula, in the convention of the field: products alone,
// backward twice forward, nothing computed again, causal attention as half of each document's
// square, so that packed documents count as the sum of their squares (Megatron-LM,
// training.py, num_floating_point_operations).
#include "engine/meta_run.hpp"

namespace cpplan::plan {

inline constexpr const char* flops_convention =
    "6 a parameter and token (head included, input embedding not) and 6 * layers * heads * "
    "head_dim * sum of L^2 over the documents (causal: half of the square)";

/// Of the whole world: `documents` are those of one micro-batch. In doubles: a step of a 405B
/// model is beyond 64 bits.
double model_flops(const engine::Job&, const engine::Documents&);

}  // namespace cpplan::plan
