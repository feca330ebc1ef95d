#pragma once
// What the vectorised loops of this folder share. A loop is plain C++ that g++ vectorises; a
// function marked CPPLAN_VECTORISED is compiled for three instruction sets, and the loader picks.
#include <limits>

#include "base/units.hpp"
#include "kernels/cpu/fast_exp.hpp"

// The loader picks before a sanitizer is set up, and its instrumented code would crash.
#if defined(CPPLAN_SANITIZED) || !defined(__x86_64__) || !defined(__GNUC__) || defined(__clang__)
#define CPPLAN_VECTORISED
#else
#define CPPLAN_VECTORISED \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

namespace cpplan::kernels::cpu {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

CPPLAN_INLINE float sigmoid(float x) {
  return 1.0f / (1.0f + fast_exp(-x));
}

CPPLAN_INLINE float greatest(const float* x, Index n) {
  float m = -infinity;
#pragma omp simd reduction(max : m)
  for (Index i = 0; i < n; ++i) m = x[i] > m ? x[i] : m;
  return m;
}

template <class T>
CPPLAN_INLINE float dot(const T* x, const T* y, Index n) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (Index i = 0; i < n; ++i) s += x[i] * y[i];
  return s;
}

}  // namespace cpplan::kernels::cpu
