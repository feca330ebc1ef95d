#pragma once
// Rows of host memory from one stride to another: what packs, unpacks and stands in for a gather.
#include "kernels/tensor.hpp"

namespace cpplan::comm {

/// Copies `from` [n, c] to `to` [n, c] of the same type; nothing where both are the same memory.
/// Otherwise they do not overlap.
void copy_rows(const kernels::Tensor& from, const kernels::Tensor& to);

}  // namespace cpplan::comm
