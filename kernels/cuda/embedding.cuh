#pragma once
// Rows of the embedding. Backward is deterministic and takes no room: of all places of a token the
// first adds the gradients of all of them, in their order, as the host does.
#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/rows.cuh"

namespace cpplan::kernels::cuda {

template <class T>
struct EmbedGroup {
  View<const std::int32_t> tokens;
  View<const T> weight;
  View<T> y;
  Index first_row, rows;

  __device__ void operator()(Index i, Index j, Index left) const {
    const Index row = *tokens.row(i) - first_row;
    Wide<T> values[group] = {};
    if (row >= 0 && row < rows) load(weight.row(row) + j, left, values);
    store(values, left, y.row(i) + j);
  }
};

inline constexpr int embed_threads = 128;
inline constexpr Index embed_columns = Index{embed_threads} * group;  // of one block

/// Which places of one piece of the tokens hold a token: bit l of word w is place 32 w + l. All
/// threads of the block get the words.
__device__ inline void find_token(View<const std::int32_t> tokens, Index first, Index end,
                                  std::int32_t token, std::uint32_t* words) {
  const Index place = first + thread();
  std::uint32_t bits = place < end && *tokens.row(place) == token ? 1u << lane() : 0u;
  for (int distance = warp_threads / 2; distance > 0; distance /= 2)
    bits |= shuffle_xor(bits, distance);
  sync_block();  // the words of the piece before have been read
  if (lane() == 0) words[warp()] = bits;
  sync_block();
}

/// Whether `token` stands at a place before `end`.
__device__ inline bool stands_before(View<const std::int32_t> tokens, Index end, std::int32_t token,
                                     std::uint32_t* words) {
  for (Index first = 0; first < end; first += threads()) {
    find_token(tokens, first, end, token, words);
    for (int w = 0; w < threads() / warp_threads; ++w)
      if (words[w] != 0) return true;
  }
  return false;
}

/// sum[0 ... left - 1] += dy.
template <class T>
__device__ void add_group(const T* dy, Index left, float* sum) {
  float d[group], s[group];
  load(dy, left, d);
  load(sum, left, s);
  for (int n = 0; n < group; ++n) s[n] += d[n];
  store(s, left, sum);
}

/// Block (i, c): columns c * embed_columns and on of the token at place i.
template <class T>
__global__ void embed_backward(View<const std::int32_t> tokens, View<const T> dy,
                               View<float> dweight, Index n, Index h, Index first_row, Index rows) {
  auto* const words = dynamic_shared<std::uint32_t>();
  const Index own = block_x(), j = block_y() * embed_columns + Index{thread()} * group;
  const std::int32_t token = *tokens.row(own);
  const Index row = token - first_row;
  if (row < 0 || row >= rows || stands_before(tokens, own, token, words)) return;
  for (Index first = own; first < n; first += threads()) {
    find_token(tokens, first, n, token, words);
    for (int w = 0; w < threads() / warp_threads; ++w)
      for (std::uint32_t bits = words[w], place = 0; bits != 0; bits >>= 1, ++place)
        if ((bits & 1u) != 0 && j < h)
          add_group(dy.row(first + w * warp_threads + place) + j, h - j, dweight.row(row) + j);
  }
}

inline void CudaOps::run(const Embed& op) {
  with_real_type_of(op.y, [&]<class T>(T*) {
    each_group<group>(stream_, op.y.rows, op.y.cols,
                      EmbedGroup<T>{input<std::int32_t>(op.tokens), input<T>(op.weight),
                                    output<T>(op.y), op.first_row, op.weight.rows});
  });
}

inline void CudaOps::run(const EmbedBackward& op) {
  if (op.dy.elements() == 0) return;
  const LaunchShape shape{
      .grid_x = static_cast<unsigned>(op.dy.rows),
      .grid_y = static_cast<unsigned>(ceil_div(op.dy.cols, embed_columns)),
      .threads = embed_threads,
      .shared_bytes = embed_threads / warp_threads * Index{sizeof(std::uint32_t)}};
  with_real_type_of(op.dy, [&]<class T>(T*) {
    launch(embed_backward<T>, shape, stream_, input<std::int32_t>(op.tokens), input<T>(op.dy),
           output<float>(op.dweight), op.dy.rows, op.dy.cols, op.first_row, op.dweight.rows);
  });
}

}  // namespace cpplan::kernels::cuda
