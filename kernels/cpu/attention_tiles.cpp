#include "kernels/cpu/attention_tiles.hpp"

#include "kernels/cpu/dropout_factors.hpp"

namespace cpplan::kernels::cpu {
namespace {

/// Keys that lie apart (striped layouts) share few Philox calls, so each asks for its own.
void strided_factors(const Dropout& d, Index q, Index head, Index sample, const Run& keys,
                     Span span, float* factors) {
  const auto scale = static_cast<float>(d.scale());
  for (Index j = span.begin; j < span.end; ++j) {
    const Index k = keys.first + j * keys.stride;
    const std::uint32_t lane = dropout_lane(attention_words(d, k, q, head, sample), k);
    factors[j] = lane >= d.threshold() ? scale : 0.0f;
  }
}

}  // namespace

void attention_factors(const Dropout& dropout, Index q, Index head, Index sample, const Run& keys,
                       Span span, float* factors) {
  if (keys.stride != 1) return strided_factors(dropout, q, head, sample, keys, span, factors);
  const PhiloxCounter place = {0, static_cast<std::uint32_t>(q),
                               (dropout.site << 16) + static_cast<std::uint32_t>(head),
                               static_cast<std::uint32_t>(sample)};
  dropout_factors(dropout, place, keys.first + span.begin, span.end - span.begin,
                  factors + span.begin);
}

}  // namespace cpplan::kernels::cpu
