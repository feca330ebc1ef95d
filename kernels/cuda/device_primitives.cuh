#pragma once
// The primitives on a device (sm_80 and later). Every name, with what it means and the same
// signature, also stands in the emulator of the tests; layouts of fragments are those of the PTX
// ISA, "Matrix fragments for mma.m16n8k16" and "ldmatrix".
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/bf16.hpp"
#include "kernels/cuda/runtime.hpp"

static_assert(__cplusplus >= 202002L, "CMake passes the standard to nvcc");

namespace cpplan::kernels::cuda {

// --- where a thread is -------------------------------------------------------------------------
__device__ inline int thread() {
  return static_cast<int>(threadIdx.x);
}
__device__ inline int threads() {
  return static_cast<int>(blockDim.x);
}
__device__ inline int lane() {
  return static_cast<int>(threadIdx.x & 31u);
}
__device__ inline int warp() {
  return static_cast<int>(threadIdx.x >> 5u);
}
__device__ inline int block_x() {
  return static_cast<int>(blockIdx.x);
}
__device__ inline int block_y() {
  return static_cast<int>(blockIdx.y);
}
__device__ inline int block_z() {
  return static_cast<int>(blockIdx.z);
}
__device__ inline int blocks_x() {
  return static_cast<int>(gridDim.x);
}
__device__ inline int blocks_y() {
  return static_cast<int>(gridDim.y);
}

/// The block's shared memory, as much as its launch asked for. Kernels have no other.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(1024) unsigned char cpplan_shared[];
  return reinterpret_cast<T*>(cpplan_shared);
}

// --- threads together --------------------------------------------------------------------------
__device__ inline void sync_block() {
  __syncthreads();
}
__device__ inline void sync_warp() {
  __syncwarp();
}
/// The value of lane `lane ^ mask`. Called by whole warps, as all that follows with "warp".
template <class T>
__device__ T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, value, mask);
}
/// The value of lane `source` of the warp.
template <class T>
__device__ T shuffle(T value, int source) {
  return __shfl_sync(0xFFFFFFFFu, value, source);
}
/// Whether any thread of the warp says so.
__device__ inline bool any_in_warp(bool condition) {
  return __any_sync(0xFFFFFFFFu, condition) != 0;
}
/// Adds to memory that other blocks add to at the same time.
__device__ inline void atomic_add(float* sum, float value) {
  atomicAdd(sum, value);
}
__device__ inline void atomic_add(double* sum, double value) {
  atomicAdd(sum, value);
}

// --- numbers -----------------------------------------------------------------------------------
__device__ inline float to_float(float x) {
  return x;
}
__device__ inline float to_float(Bf16 x) {
  return __uint_as_float(static_cast<unsigned>(__builtin_bit_cast(unsigned short, x)) << 16);
}
/// Rounded to nearest even.
__device__ inline Bf16 to_bf16(float x) {
  return __builtin_bit_cast(Bf16, __bfloat16_as_ushort(__float2bfloat16_rn(x)));
}
/// Two neighbours of a fragment in one register; `low` has the lower index.
__device__ inline std::uint32_t pack_bf16(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ inline float low_bf16(std::uint32_t pair) {
  return __uint_as_float(pair << 16);
}
__device__ inline float high_bf16(std::uint32_t pair) {
  return __uint_as_float(pair & 0xFFFF0000u);
}
/// 2^x, error 2 ulp; 0 for -inf.
__device__ inline float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// The same value, of which the compiler knows nothing: what was computed from it before is
/// computed again rather than kept in registers meanwhile.
__device__ inline int forgotten(int x) {
  asm volatile("" : "+r"(x));
  return x;
}
__device__ inline float reciprocal_sqrt(float x) {
  return rsqrtf(x);
}

// --- asynchronous copies -----------------------------------------------------------------------
__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
/// 16 bytes from global to shared memory, both aligned to 16; zeros where `valid` is false (then
/// nothing is read). Seen after wait_for_copies() and a barrier.
__device__ inline void copy_async(void* shared, const void* global, bool valid = true) {
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(shared)),
               "l"(global), "r"(bytes)
               : "memory");
}
/// The copies that this thread has started since the last call are a group.
__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}
/// Until at most `pending` of this thread's groups are under way.
template <int pending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(pending) : "memory");
}

// --- tensor cores ------------------------------------------------------------------------------
/// Warp: four 8 x 8 matrices of bf16; lane 8m + i gives the address of row i of matrix m, aligned
/// to
/// 16. Register m holds elements (lane / 4, 2 (lane % 4)) and the next of matrix m.
__device__ inline void load_matrices(std::uint32_t (&r)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(shared_row))
               : "memory");
}
/// The same of the transposed matrices.
__device__ inline void load_transposed(std::uint32_t (&r)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(shared_row))
               : "memory");
}
/// Warp: d [16, 8] += a [16, 16] b [16, 8]; a and b in bf16, sums in f32. With g = lane / 4 and
/// t = lane % 4: d[0..1] are (g, 2t) and the next, d[2..3] eight rows below; a[0] is (g, 2t..),
/// a[1] eight rows below, a[2] and a[3] eight columns to the right of these; b0 is (2t.., g), b1
/// eight rows below.
__device__ inline void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                    std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// --- launches ----------------------------------------------------------------------------------
/// Runs kernel(arguments...) on the stream. Throws Failure when the device refuses the launch.
template <class... Parameter, class... Argument>
void launch(void (*kernel)(Parameter...), const LaunchShape& shape, const Stream& stream,
            Argument&&... arguments) {
  constexpr Index needs_no_asking = 48 * 1024;
  if (shape.shared_bytes > needs_no_asking)
    check_call(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shape.shared_bytes)),
               "cudaFuncSetAttribute(max dynamic shared memory)", shape.place);
  cudaLaunchConfig_t config{};
  config.gridDim = {shape.grid_x, shape.grid_y, shape.grid_z};
  config.blockDim = {shape.threads, 1, 1};
  config.dynamicSmemBytes = static_cast<std::size_t>(shape.shared_bytes);
  config.stream = stream.handle();
  check_call(cudaLaunchKernelEx(&config, kernel, static_cast<Parameter>(arguments)...),
             "cudaLaunchKernelEx", shape.place);
}

}  // namespace cpplan::kernels::cuda
