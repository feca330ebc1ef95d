#pragma once
// How forward and backward walk a block: tiles of queries against tiles of keys, each cut down to
// what the mask lets it see. Only a tile that the mask crosses looks at positions.
#include <algorithm>

#include "kernels/cpu/gemm.hpp"
#include "kernels/ops.hpp"

namespace cpplan::kernels::cpu {

inline constexpr Index query_tile = 64, key_tile = 128;  // both score tiles stay in the L2 cache

constexpr Run part(const Run& run, Index offset, Index count) {
  return {run.row + offset, count, run.first + offset * run.stride, run.stride};
}

/// Calls f(part) for the parts of a run of at most `size` rows, in order.
template <class F>
void for_each_tile(const Run& run, Index size, F&& f) {
  for (Index at = 0; at < run.count; at += size) f(part(run, at, std::min(size, run.count - at)));
}

struct Span {
  Index begin, end;
};

/// Which rows of `keys` position q may see; one span, since a band is an interval of positions.
constexpr Span visible(Index q, const Run& keys, Band band) {
  const Index begin = -floor_div(-(q - band.left - keys.first), keys.stride);
  const Index end = floor_div(q + band.right - keys.first, keys.stride) + 1;
  const Index clamped = std::clamp<Index>(begin, 0, keys.count);
  return {clamped, std::clamp<Index>(end, clamped, keys.count)};
}

/// The part of `keys` that any of the queries may see.
constexpr Run visible_part(const Run& queries, const Run& keys, Band band) {
  const Index begin = visible(queries.first, keys, band).begin;
  const Index end = std::max(begin, visible(queries.last(), keys, band).end);
  return part(keys, begin, end - begin);
}

/// Calls f(keys, spans are whole) for the key tiles of a block that the queries see.
template <class F>
void for_each_key_tile(const Block& block, const Run& queries, Band band, F&& f) {
  const bool whole = block.coverage == Coverage::all;
  const Run seen = whole ? block.k : visible_part(queries, block.k, band);
  for_each_tile(seen, key_tile, [&](const Run& keys) {
    f(keys, whole ? Coverage::all : coverage(queries, keys, band));
  });
}

/// The span of row q in a tile of the given coverage.
constexpr Span span_of(Index q, const Run& keys, Band band, Coverage tile) {
  return tile == Coverage::all ? Span{0, keys.count} : visible(q, keys, band);
}

/// Which columns of k and v serve a head: several heads share one where there are fewer.
template <class Op>
Index kv_column(const Op& op, Index head) {
  return head / (op.q.cols / op.k.cols) * op.head_dim;
}

/// The rows of a run, and the columns of one head from `column` on.
inline Tensor tile_of(const Tensor& t, const Run& run, Index column, Index head_dim) {
  return t.row_range(run.row, run.count).col_range(column, head_dim);
}

inline Operand transposed(Operand o) {
  return {o.data, o.stride, Transpose::yes};
}

/// One row of the dropout mask as factors, for the keys of a tile inside a span.
void attention_factors(const Dropout& dropout, Index q, Index head, Index sample, const Run& keys,
                       Span span, float* factors);

}  // namespace cpplan::kernels::cpu
