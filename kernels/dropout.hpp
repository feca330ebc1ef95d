#pragma once
// Which elements a dropout keeps: a function of global names and indices, so the same under every
// layout. Each Philox word gives two 16-bit lanes; a lane keeps its element when it is at least the
// threshold, and what is kept is scaled by the rate that the threshold really has.
#include "base/philox.hpp"
#include "base/units.hpp"

namespace cpplan::kernels {

struct Dropout {
  std::uint64_t key = 0;           // random_key(seed, "dropout/hidden" or "dropout/attention")
  std::uint32_t site = 0;          // hidden: 4 * layer + site; attention: layer
  std::uint32_t first_sample = 0;  // global number of the micro-batch's first sample
  double rate = 0;

  constexpr std::uint32_t threshold() const {
    return static_cast<std::uint32_t>(65536.0 * rate + 0.5);
  }
  constexpr double scale() const { return 65536.0 / (65536.0 - threshold()); }
};

/// The sixteen-bit lane of element `i` of its group of eight.
constexpr std::uint32_t dropout_lane(const PhiloxCounter& words, Index i) {
  return (words[(i & 7) >> 1] >> (16 * (i & 1))) & 0xFFFFu;
}

/// Words for features 8n ... 8n + 7 of token `index` of sample `sample` (global number).
constexpr PhiloxCounter hidden_words(const Dropout& d, Index feature, Index index, Index sample) {
  return philox(d.key, {static_cast<std::uint32_t>(feature / 8), static_cast<std::uint32_t>(index),
                        d.site, static_cast<std::uint32_t>(sample)});
}

/// Words for keys 8n ... 8n + 7 seen by query `q` in global head `head` of layer d.site.
constexpr PhiloxCounter attention_words(const Dropout& d, Index k, Index q, Index head,
                                        Index sample) {
  return philox(d.key, {static_cast<std::uint32_t>(k / 8), static_cast<std::uint32_t>(q),
                        (d.site << 16) + static_cast<std::uint32_t>(head),
                        static_cast<std::uint32_t>(sample)});
}

}  // namespace cpplan::kernels
