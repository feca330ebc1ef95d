#pragma once
// The dropout mask as numbers to multiply with: 0 where an element falls, the scale where it stays.
#include "kernels/dropout.hpp"

namespace cpplan::kernels::cpu {

/// factors[i] of elements first ... first + count - 1 of one row. `place` is the counter of the
/// row's first group of eight (hidden_words, attention_words): its word 0 is ignored.
void dropout_factors(const Dropout& dropout, PhiloxCounter place, Index first, Index count,
                     float* factors);

}  // namespace cpplan::kernels::cpu
