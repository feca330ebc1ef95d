#pragma once
// Rotary position embedding: a block a token, which computes the angles once, in double, for all of
// its heads.
#include <algorithm>

#include "kernels/cuda/cuda_backend.hpp"
#include "kernels/cuda/rows.cuh"

namespace cpplan::kernels::cuda {

/// Travels with the launch, whose arguments have room for 4 KiB.
struct Turn {
  static constexpr Index most_pairs = 256;
  Index half;  // pairs of a head
  double magnitude;
  float direction;  // -1 turns back
  double frequencies[most_pairs];
};

/// magnitude times cosine[j], sine[j] of position * frequencies[j].
__device__ inline void angles_of(double position, const Turn& turn, float* cosine, float* sine) {
  for (Index j = thread(); j < turn.half; j += threads()) {
    const double angle = position * turn.frequencies[j];
    cosine[j] = static_cast<float>(turn.magnitude * cos(angle));
    sine[j] = turn.direction * static_cast<float>(turn.magnitude * sin(angle));
  }
}

template <class T>
__device__ void rotate(T* low, T* high, Index left, const float* cosine, const float* sine) {
  float a[group], b[group], c[group], s[group];
  load(low, left, a);
  load(high, left, b);
  load(cosine, left, c);
  load(sine, left, s);
  for (int n = 0; n < group; ++n) {
    const float x = a[n], y = b[n];
    a[n] = x * c[n] - y * s[n];
    b[n] = x * s[n] + y * c[n];
  }
  store(a, left, low);
  store(b, left, high);
}

template <class T>
__global__ void rope(View<T> x, View<const std::int32_t> positions, Index heads, Turn turn) {
  auto* const cosine = dynamic_shared<float>();
  auto* const sine = cosine + round_up(turn.half, group);
  const Index i = block_x();
  angles_of(static_cast<double>(*positions.row(i)), turn, cosine, sine);
  sync_block();
  const Index groups = ceil_div(turn.half, group);
  for (Index at = thread(); at < heads * groups; at += threads()) {
    const Index head = at / groups, j = at % groups * group;
    T* const low = x.row(i) + head * 2 * turn.half + j;
    rotate(low, low + turn.half, turn.half - j, cosine + j, sine + j);
  }
}

inline Turn turn_of(const Rope& op) {
  expect(std::ssize(op.frequencies) <= Turn::most_pairs, "a head has at most 512 features");
  Turn turn{std::ssize(op.frequencies), op.magnitude, op.inverse ? -1.0f : 1.0f, {}};
  std::copy(op.frequencies.begin(), op.frequencies.end(), turn.frequencies);
  return turn;
}

inline void CudaOps::run(const Rope& op) {
  if (op.x.elements() == 0) return;
  const Turn turn = turn_of(op);
  LaunchShape shape = row_launch(op.x.rows, op.x.cols / 2);
  shape.shared_bytes = 2 * round_up(turn.half, group) * Index{sizeof(float)};
  with_real_type_of(op.x, [&]<class T>(T*) {
    launch(rope<T>, shape, stream_, output<T>(op.x), input<std::int32_t>(op.positions),
           op.x.cols / op.head_dim(), turn);
  });
}

}  // namespace cpplan::kernels::cuda
