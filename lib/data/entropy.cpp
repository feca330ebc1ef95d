#include <array>
#include <cmath>
#include <span>

#include "data/sample_source.hpp"

namespace cpplan::data {
namespace {

constexpr int symbols = 256;

/// Sum over the counts of count * ln(total / count): nats to name all of them.
double nats(std::span<const Index> counts) {
  Index total = 0;
  for (const Index count : counts) total += count;
  double sum = 0;
  for (const Index count : counts)
    if (count > 0)
      sum += static_cast<double>(count) *
             std::log(static_cast<double>(total) / static_cast<double>(count));
  return sum;
}

double per_item(double nats, Index items) {
  return items > 0 ? nats / static_cast<double>(items) : 0;
}

}  // namespace

TextEntropy entropy(const Rows& rows) {
  std::array<Index, symbols> singles{};
  std::vector<std::array<Index, symbols>> followers(symbols);
  Index tokens = 0, pairs = 0;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      ++singles[row[i]], ++tokens;
      if (i > 0) ++followers[row[i - 1]][row[i]], ++pairs;
    }
  double given_last = 0;
  for (const auto& counts : followers) given_last += nats(counts);
  return {per_item(nats(singles), tokens), per_item(given_last, pairs)};
}

}  // namespace cpplan::data
