#include "data/multipack.hpp"

#include <algorithm>
#include <numeric>

#include "base/contract.hpp"
#include "data/room_tree.hpp"

namespace cpplan::data {
namespace {

/// The bins of one group of rows as they fill.
class Packer {
 public:
  explicit Packer(const PackingRules& rules) : rules_(rules) {}

  /// The bin of the next row.
  Index place(Length length) {
    const bool first_fit = rules_.method == PackingMethod::first_fit;
    const Index bin = first_fit ? first_bin(length) : next_bin(length);
    fills_[bin] += length;
    ++rows_[bin];
    if (first_fit) update_room(bin);
    return bin;
  }

  Index count() const { return std::ssize(fills_); }
  const std::vector<Index>& fills() const { return fills_; }

  void start_group() {
    rooms_.clear();
    fills_.clear();
    rows_.clear();
  }

 private:
  Index first_bin(Length length) {
    const Index bin = rooms_.first_with(length);
    if (bin == RoomTree::none) {
      rooms_.open(rules_.capacity);
      return open_bin();
    }
    return bin;
  }

  /// Of first-fit, after the bin has taken its row.
  void update_room(Index bin) {
    if (rows_[bin] < rules_.rows_per_bin)
      rooms_.set(bin, rules_.capacity - fills_[bin]);
    else
      rooms_.close(bin);
  }

  Index next_bin(Length length) {
    const bool fits = !fills_.empty() && length <= rules_.capacity - fills_.back();
    return fits ? count() - 1 : open_bin();
  }

  Index open_bin() {
    fills_.push_back(0);
    rows_.push_back(0);
    return count() - 1;
  }

  PackingRules rules_;
  RoomTree rooms_;
  std::vector<Index> fills_, rows_;
};

/// Next-fit packs all rows as one group.
Index group_size_of(const PackingRules& rules, Index rows) {
  expect(rules.capacity >= 1 && rules.rows_per_bin >= 1 && rules.group_size >= 1,
         "a bin holds a token and a row, a group a row");
  return rules.method == PackingMethod::first_fit ? rules.group_size : std::max<Index>(1, rows);
}

/// Counting sort by bin, which keeps the rows of a bin in their order.
Bins grouped(const std::vector<Index>& bin_of_row, Index count) {
  Bins bins{std::vector<Index>(bin_of_row.size()), std::vector<Index>(count + 1)};
  for (const Index bin : bin_of_row) ++bins.first[bin + 1];
  std::partial_sum(bins.first.begin(), bins.first.end(), bins.first.begin());
  std::vector<Index> next(bins.first.begin(), bins.first.end() - 1);
  for (Index row = 0; row < std::ssize(bin_of_row); ++row)
    bins.items[next[bin_of_row[row]]++] = row;
  return bins;
}

/// Adds the fills of a group, and keeps those of the last `keep` bins.
void keep_last(std::vector<Index>& last, const std::vector<Index>& fills, Index keep) {
  const Index more = std::min(keep, std::ssize(fills));
  const Index left = std::min(std::ssize(last), keep - more);
  last.erase(last.begin(), last.end() - left);
  last.insert(last.end(), fills.end() - more, fills.end());
}

struct Group {
  Index from, size;
};

/// The lengths of a group; in order, by way of `gathered`.
std::span<const Length> group_of(std::span<const Length> lengths, RowOrder order, Group group,
                                 std::vector<Length>& gathered) {
  if (order.empty()) return lengths.subspan(group.from, group.size);
  gathered.resize(static_cast<std::size_t>(group.size));
  for (Index i = 0; i < group.size; ++i) gathered[i] = lengths[order[group.from + i]];
  return gathered;
}

}  // namespace

Bins pack(std::span<const Length> lengths, const PackingRules& rules) {
  const Index rows = std::ssize(lengths), group = group_size_of(rules, rows);
  std::vector<Index> bin_of_row;
  bin_of_row.reserve(lengths.size());
  Packer packer(rules);
  Index bins = 0;
  for (Index from = 0; from < rows; from += group) {
    packer.start_group();
    for (const Length length : lengths.subspan(from, std::min(group, rows - from)))
      bin_of_row.push_back(bins + packer.place(length));
    bins += packer.count();
  }
  return grouped(bin_of_row, bins);
}

BinCount count_bins(std::span<const Length> lengths, RowOrder order, const PackingRules& rules,
                    Index keep_fills) {
  const Index rows = std::ssize(lengths), group = group_size_of(rules, rows);
  expect(order.empty() || order.size() == lengths.size(), "an order names every row once");
  BinCount count;
  Packer packer(rules);
  std::vector<Length> gathered;  // at once, so that the reads from all over the rows overlap
  for (Index from = 0; from < rows; from += group) {
    const Index size = std::min(group, rows - from);
    packer.start_group();
    for (const Length length : group_of(lengths, order, {from, size}, gathered))
      packer.place(length);
    count.bins += packer.count();
    count.tokens = std::accumulate(packer.fills().begin(), packer.fills().end(), count.tokens);
    keep_last(count.last_fills, packer.fills(), keep_fills);
  }
  return count;
}

}  // namespace cpplan::data
