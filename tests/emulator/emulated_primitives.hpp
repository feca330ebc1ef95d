#pragma once
// The primitives of kernels/cuda/primitives.cuh on a host: the same names and signatures, what they
// mean there, and the checks that a device does not make. Each knows the line that called it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "emulator/launch.hpp"
#include "emulator/thread_block.hpp"
#include "kernels/bf16.hpp"
#include "kernels/cuda/runtime.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

namespace cpplan::kernels::cuda {

using Caller = emulator::Place;
using emulator::ThreadBlock;
using std::max;
using std::min;

// --- where a thread is -------------------------------------------------------------------------
inline int thread() {
  return ThreadBlock::current().thread().index;
}
inline int threads() {
  return ThreadBlock::current().grid().threads;
}
inline int lane() {
  return thread() % emulator::warp_size;
}
inline int warp() {
  return thread() / emulator::warp_size;
}
inline int block_x() {
  return ThreadBlock::current().index().x;
}
inline int block_y() {
  return ThreadBlock::current().index().y;
}
inline int block_z() {
  return ThreadBlock::current().index().z;
}
inline int blocks_x() {
  return ThreadBlock::current().grid().size.x;
}
inline int blocks_y() {
  return ThreadBlock::current().grid().size.y;
}

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(ThreadBlock::current().grid().shared);
}

// --- threads together --------------------------------------------------------------------------
inline void sync_block(Caller caller = Caller::here()) {
  ThreadBlock::current().sync_block(caller);
}

inline void sync_warp(Caller caller = Caller::here()) {
  ThreadBlock::current().meet_warp(0, {"sync_warp", caller}, [](emulator::Slots&) {});
}

/// What a lane hands in to a shuffle: its value, and whose it wants.
template <class T>
struct Shuffled {
  T value;
  int source;
};

template <class T>
T exchange(T value, int source, emulator::Meeting meeting) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "one or two registers");
  const auto combine = [](emulator::Slots& slots) {
    std::array<Shuffled<T>, emulator::warp_size> all;
    for (std::size_t i = 0; i < all.size(); ++i)
      std::memcpy(&all[i], slots[i].data(), sizeof all[i]);
    for (std::size_t i = 0; i < all.size(); ++i)
      std::memcpy(slots[i].data(), &all[static_cast<std::size_t>(all[i].source)].value, sizeof(T));
  };
  return ThreadBlock::current().meet_warp(Shuffled<T>{value, source}, meeting, combine).value;
}

template <class T>
T shuffle_xor(T value, int mask, Caller caller = Caller::here()) {
  return exchange(value, (lane() ^ mask) % emulator::warp_size, {"shuffle_xor", caller});
}

template <class T>
T shuffle(T value, int source, Caller caller = Caller::here()) {
  return exchange(value, source % emulator::warp_size, {"shuffle", caller});
}

bool any_in_warp(bool condition, Caller caller = Caller::here());

/// Blocks of one launch run one after the other, and nobody else adds to a rank's memory.
inline void atomic_add(float* sum, float value) {
  *sum += value;
}
inline void atomic_add(double* sum, double value) {
  *sum += value;
}

// --- numbers -----------------------------------------------------------------------------------
inline float to_float(float x) {
  return x;
}
inline float to_float(Bf16 x) {
  return x;
}
inline Bf16 to_bf16(float x) {
  return Bf16(x);
}
inline std::uint32_t pack_bf16(float low, float high) {
  const auto bits = [](float x) -> std::uint32_t { return std::bit_cast<std::uint16_t>(Bf16(x)); };
  return bits(low) | bits(high) << 16;
}
inline float low_bf16(std::uint32_t pair) {
  return std::bit_cast<float>(pair << 16);
}
inline float high_bf16(std::uint32_t pair) {
  return std::bit_cast<float>(pair & 0xFFFF0000u);
}
inline float fast_exp2(float x) {
  return std::exp2(x);
}
inline int forgotten(int x) {
  return x;
}
inline float reciprocal_sqrt(float x) {
  return 1 / std::sqrt(x);
}

// --- asynchronous copies -----------------------------------------------------------------------
void copy_async(void* shared, const void* global, bool valid = true,
                Caller caller = Caller::here());
void commit_copies();
void wait_for_groups(int pending);
template <int pending>
void wait_for_copies() {
  wait_for_groups(pending);
}

// --- tensor cores ------------------------------------------------------------------------------
void load_matrices(std::uint32_t (&r)[4], const void* shared_row, Caller caller = Caller::here());
void load_transposed(std::uint32_t (&r)[4], const void* shared_row, Caller caller = Caller::here());
void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                  Caller caller = Caller::here());

// --- launches ----------------------------------------------------------------------------------
template <class... Parameter, class... Argument>
void launch(void (*kernel)(Parameter...), const LaunchShape& shape, const Stream& stream,
            Argument&&... arguments) {
  emulator::enqueue_launch(stream, shape, [=] { kernel(static_cast<Parameter>(arguments)...); });
}

}  // namespace cpplan::kernels::cuda
