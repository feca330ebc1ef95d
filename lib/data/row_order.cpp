#include "data/row_order.hpp"

#include <algorithm>
#include <utility>

#include "base/philox.hpp"

namespace cpplan::data {
namespace {

std::uint64_t random_place(std::uint64_t key, Index row, Index epoch) {
  const auto r = static_cast<std::uint64_t>(row), e = static_cast<std::uint64_t>(epoch);
  const PhiloxCounter words =
      philox(key, {static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(r >> 32),
                   static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(e >> 32)});
  return std::uint64_t{words[1]} << 32 | words[0];
}

}  // namespace

std::vector<Index> row_order(std::uint64_t seed, Index rows, Index epoch) {
  const std::uint64_t key = random_key(seed, "order");
  std::vector<std::pair<std::uint64_t, Index>> places;
  places.reserve(static_cast<std::size_t>(rows));
  for (Index row = 0; row < rows; ++row) places.emplace_back(random_place(key, row, epoch), row);
  std::ranges::sort(places);
  std::vector<Index> order;
  order.reserve(places.size());
  for (const auto& [place, row] : places) order.push_back(row);
  return order;
}

}  // namespace cpplan::data
