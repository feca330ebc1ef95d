#include <algorithm>
#include <array>
#include <bit>

#include "base/philox.hpp"
#include "data/sample_source.hpp"

namespace cpplan::data {
namespace {

/// Each byte has eight likely followers, the first twice as likely as the second and so on: about
/// 1.4 nats a token to be learned, from 5.5 of uniform bytes.
constexpr int followers = 8;
using Chain = std::array<std::array<std::uint8_t, followers>, 256>;

Chain make_chain(std::uint64_t seed) {
  const std::uint64_t key = random_key(seed, "synthetic/chain");
  Chain chain{};
  for (std::uint32_t byte = 0; byte < chain.size(); ++byte)
    for (std::uint32_t i = 0; i < followers; ++i)
      chain[byte][i] = static_cast<std::uint8_t>(philox(key, {byte, i, 0, 0})[0]);
  return chain;
}

std::vector<std::uint8_t> synthetic_row(const Chain& chain, std::uint64_t key, Index row,
                                        Index tokens) {
  const auto number = static_cast<std::uint64_t>(row);
  const auto low = static_cast<std::uint32_t>(number),
             high = static_cast<std::uint32_t>(number >> 32);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(tokens));
  for (Index i = 0; i < tokens; ++i) {
    const std::uint32_t word = philox(key, {static_cast<std::uint32_t>(i), low, high, 0})[0];
    const int choice = std::min(std::countr_zero(word), followers - 1);
    bytes.push_back(i == 0 ? static_cast<std::uint8_t>(word) : chain[bytes.back()][choice]);
  }
  return bytes;
}

}  // namespace

Rows synthetic_rows(std::uint64_t seed, Index rows, Index sequence_len) {
  const Chain chain = make_chain(seed);
  const std::uint64_t key = random_key(seed, "synthetic/rows");
  Rows result;
  result.reserve(static_cast<std::size_t>(rows));
  for (Index row = 0; row < rows; ++row)
    result.push_back(synthetic_row(chain, key, row, sequence_len));
  return result;
}

}  // namespace cpplan::data
