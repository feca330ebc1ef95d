#pragma once
// Which part of which global tensor a rank holds. What SequenceMap is to tokens this is to
// parameters: initialisation, the gradient norm, `verify`, checkpoint slices and optimizer shards
// ask it; none of them asks for a rank.
#include <string>

#include "base/units.hpp"

namespace cpplan::layout {

/// Over which ranks the gradients of a shard add up, apart from those of data parallelism. tp: each
/// saw a part of the tokens (norms on sequence shards). tp_kv: each has some of the queries of one
/// KV head. embedding: the first and the last stage use one table.
enum class SummedOver : std::uint8_t { nothing, tp, tp_kv, embedding };

struct TensorShard {
  std::string name;          // Hugging Face's: model.layers.3.self_attn.q_proj.weight
  Index slot = 0;            // canonical number of the tensor in the model, from 0
  Index rows = 0, cols = 0;  // of the whole tensor; vocabulary rows without padding
  Index first_row = 0, row_count = 0, first_col = 0, col_count = 0;  // here, padding included
  int part = 0, parts = 1;  // which of how many TP shards; 0 of 1: every TP rank holds it whole
  int copy = 0;             // of the TP ranks and stages that hold this part, which this is
  SummedOver summed_over = SummedOver::nothing;

  /// Rows here that are in the tensor, not padding.
  Index valid_rows() const {
    const Index left = rows - first_row;
    return left < 0 ? 0 : left < row_count ? left : row_count;
  }
  Index elements() const { return row_count * col_count; }
  /// Number of element (row, col) of the shard in the whole tensor.
  Index element(Index row, Index col) const { return (first_row + row) * cols + first_col + col; }
};

}  // namespace cpplan::layout
