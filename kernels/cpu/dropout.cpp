#include <algorithm>
#include <array>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/dropout_factors.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/cpu/vector_math.hpp"

namespace cpplan::kernels::cpu {
namespace {

constexpr Index lanes_a_group = 8;    // elements of one Philox call
constexpr Index groups_a_batch = 16;  // calls side by side in vector registers

/// Philox of `groups_a_batch` neighbouring counters; words[w][g] is word w of group first + g.
/// The rounds of base/philox.hpp with the counters innermost.
CPPLAN_INLINE void philox_batch(std::uint64_t key, PhiloxCounter place, std::uint32_t first,
                                std::uint32_t (&words)[4][groups_a_batch]) {
  for (Index g = 0; g < groups_a_batch; ++g) {
    words[0][g] = first + static_cast<std::uint32_t>(g);
    for (std::size_t w = 1; w < 4; ++w) words[w][g] = place[w];
  }
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
#pragma omp simd
    for (Index g = 0; g < groups_a_batch; ++g) {
      const std::uint64_t p0 = 0xD2511F53ull * words[0][g], p1 = 0xCD9E8D57ull * words[2][g];
      words[0][g] = static_cast<std::uint32_t>(p1 >> 32) ^ words[1][g] ^ k0;
      words[1][g] = static_cast<std::uint32_t>(p1);
      words[2][g] = static_cast<std::uint32_t>(p0 >> 32) ^ words[3][g] ^ k1;
      words[3][g] = static_cast<std::uint32_t>(p0);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

struct Keep {
  std::uint32_t threshold;
  float scale;
  float factor(std::uint32_t lane) const { return lane >= threshold ? scale : 0.0f; }
};

/// Factors of the elements of `groups_a_batch` groups from group `first` on.
CPPLAN_VECTORISED void factor_batch(std::uint64_t key, PhiloxCounter place, std::uint32_t first,
                                    Keep keep, float* factors) {
  std::uint32_t words[4][groups_a_batch];
  philox_batch(key, place, first, words);
  for (Index g = 0; g < groups_a_batch; ++g)
    for (Index w = 0; w < 4; ++w) {
      factors[lanes_a_group * g + 2 * w] = keep.factor(words[w][g] & 0xFFFFu);
      factors[lanes_a_group * g + 2 * w + 1] = keep.factor(words[w][g] >> 16);
    }
}

/// Counter of the hidden row that `rows` row i names.
PhiloxCounter hidden_place(const Dropout& d, const std::int32_t* row) {
  return {0, static_cast<std::uint32_t>(row[0]), d.site,
          d.first_sample + static_cast<std::uint32_t>(row[1])};
}

constexpr std::int32_t padding = -1;

/// The factors of hidden row i: all 0 where it is padding.
void hidden_factors(const Dropout& d, const Tensor& rows, Index i, Index h, float* factors) {
  const auto* const row = rows.row<std::int32_t>(i);
  if (row[0] == padding)
    std::fill_n(factors, h, 0.0f);
  else
    dropout_factors(d, hidden_place(d, row), 0, h, factors);
}

template <class T>
CPPLAN_VECTORISED void add_scaled(const T* x, const T* branch, const float* factors, Index n,
                                  T* y) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) y[j] = x[j] + (factors[j] == 0.0f ? 0.0f : factors[j] * branch[j]);
}

template <class T>
CPPLAN_VECTORISED void add_rows(const T* x, const T* branch, Index n, T* y) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) y[j] = x[j] + branch[j];
}

template <class T>
CPPLAN_VECTORISED void scale_row(const T* dy, const float* factors, Index n, T* dbranch) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) dbranch[j] = factors[j] == 0.0f ? 0.0f : factors[j] * dy[j];
}

}  // namespace

void dropout_factors(const Dropout& dropout, PhiloxCounter place, Index first, Index count,
                     float* factors) {
  constexpr Index batch = lanes_a_group * groups_a_batch;
  const Keep keep{dropout.threshold(), static_cast<float>(dropout.scale())};
  std::array<float, batch> buffer;
  for (Index at = first, end = first + count; at < end;) {
    const Index group = at / lanes_a_group, skipped = at % lanes_a_group;
    const Index taken = std::min(batch - skipped, end - at);
    factor_batch(dropout.key, place, static_cast<std::uint32_t>(group), keep, buffer.data());
    std::copy_n(buffer.data() + skipped, taken, factors + (at - first));
    at += taken;
  }
}

void CpuOps::run(const DropoutAdd& op) {
  const Index h = op.x.cols;
  float* const factors = scratch(h);
  with_real_type_of(op.x, [&]<class T>(T*) {
    for (Index i = 0; i < op.x.rows; ++i) {
      const T *x = op.x.row<T>(i), *branch = op.branch.row<T>(i);
      if (op.dropout.rate == 0) {
        add_rows(x, branch, h, op.y.row<T>(i));
      } else {
        hidden_factors(op.dropout, op.rows, i, h, factors);
        add_scaled(x, branch, factors, h, op.y.row<T>(i));
      }
    }
  });
}

void CpuOps::run(const DropoutBackward& op) {
  if (op.dropout.rate == 0) return run(Copy{op.dy, op.dbranch});
  const Index h = op.dy.cols;
  float* const factors = scratch(h);
  with_real_type_of(op.dy, [&]<class T>(T*) {
    for (Index i = 0; i < op.dy.rows; ++i) {
      hidden_factors(op.dropout, op.rows, i, h, factors);
      scale_row<T>(op.dy.row<T>(i), factors, h, op.dbranch.row<T>(i));
    }
  });
}

}  // namespace cpplan::kernels::cpu
