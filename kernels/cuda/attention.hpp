#pragma once
// Attention on a device, as the backend calls it. head_dim up to 256. On bf16 with head_dim a
// multiple of 8 and rows aligned to 16 bytes (gradients and results to 8) it runs on tensor cores,
// whose probabilities are rounded to bf16; everything else on plain f32 arithmetic, many times
// slower.
#include <span>

#include "kernels/cuda/runtime.hpp"
#include "kernels/ops.hpp"

namespace cpplan::kernels::cuda {

/// Queues the op. The blocks may go when the call returns.
void attention(const Attention& op, const Stream& stream);

/// Whether the gradient of the queries is summed in an order that is the same every time, by a pass
/// of its own, or by atomic additions in whatever order they come, which is faster.
enum class GradientOrder { fixed, any };

/// Queues the op. `workspace`, on the device, is in use until it is done; with less than
/// attention_workspace() it takes some heads at a time.
void attention_backward(const AttentionBackward& op, GradientOrder order,
                        std::span<std::byte> workspace, const Stream& stream);

/// What all heads at once need, and the least that will do: one key head with its query heads.
Bytes attention_workspace(const AttentionBackward& op);
Bytes least_attention_workspace(const AttentionBackward& op);

}  // namespace cpplan::kernels::cuda
