#include "layout/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/contract.hpp"

namespace cpplan::layout {
namespace {

constexpr std::array<std::string_view, dim_count> names = {"tp", "cp", "ep", "dp", "pp"};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::optional<Dim> dim_named(std::string_view name) {
  for (int i = 0; i < dim_count; ++i)
    if (same_ignoring_case(names[i], name)) return static_cast<Dim>(i);
  return std::nullopt;
}

std::vector<std::string_view> split_at_dashes(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t dash = std::min(text.find('-', from), text.size());
    words.push_back(text.substr(from, dash - from));
    from = dash + 1;
  }
  return words;
}

bool contains(const std::vector<Dim>& dims, Dim d) {
  return std::ranges::count(dims, d) != 0;
}

Order order_of(std::vector<Dim> dims) {
  for (const Dim d : megatron_order)
    if (!contains(dims, d)) dims.push_back(d);
  Order order{};
  std::ranges::copy(dims, order.begin());
  return order;
}

}  // namespace

std::string_view name_of(Dim d) {
  return names[static_cast<int>(d)];
}

Result<Order> parse_order(std::string_view text) {
  std::vector<Dim> dims;
  for (const std::string_view word : split_at_dashes(text)) {
    const auto dim = dim_named(word);
    if (!dim)
      return failure(
          fmt::format("rank order \"{}\" has \"{}\" (not a dimension: they are tp, cp, ep, dp and "
                      "pp). write {}",
                      text, word, to_string(megatron_order)));
    if (contains(dims, *dim))
      return failure(fmt::format("rank order \"{}\" names {} twice (each has one place). write {}",
                                 text, name_of(*dim), to_string(order_of(dims))));
    dims.push_back(*dim);
  }
  return order_of(std::move(dims));
}

std::string to_string(const Order& order) {
  std::string text;
  for (const Dim d : order) text.append(text.empty() ? "" : "-").append(name_of(d));
  return text;
}

int Group::index_of(int r) const {
  const auto& [fast, slow] = axes;
  const int offset = r - base;
  const int outer = slow.count > 1 ? offset / slow.stride : 0;
  const int inner = fast.count > 1 ? (offset - outer * slow.stride) / fast.stride : 0;
  const int index = outer * fast.count + inner;
  expect(index >= 0 && index < size() && rank(index) == r, "the rank is a member of the group");
  return index;
}

std::vector<int> Group::members() const {
  std::vector<int> ranks;
  ranks.reserve(static_cast<std::size_t>(size()));
  for (int i = 0; i < size(); ++i) ranks.push_back(rank(i));
  return ranks;
}

Ranks::Ranks(const ParallelDims& dims, Order order) {
  size_ = {dims.tp, dims.cp, 1, dims.dp, dims.pp};
  int stride = 1;
  for (const Dim d : order) {
    stride_[static_cast<int>(d)] = stride;
    stride *= size(d);
  }
  expect(stride == dims.world(), "a rank order names every dimension once");
}

int Ranks::world() const {
  int world = 1;
  for (const int size : size_) world *= size;
  return world;
}

int Ranks::rank(const Coordinates& coordinates) const {
  int rank = 0;
  for (const Dim d : megatron_order) {
    expect(coordinates[d] >= 0 && coordinates[d] < size(d), "coordinates lie in the grid");
    rank += coordinates[d] * stride(d);
  }
  return rank;
}

Coordinates Ranks::coordinates(int rank) const {
  expect(rank >= 0 && rank < world(), "the rank is in the world");
  Coordinates coordinates;
  for (const Dim d : megatron_order) coordinates[d] = rank / stride(d) % size(d);
  return coordinates;
}

Group Ranks::group(int rank, Dim a) const {
  return {rank - coordinates(rank)[a] * stride(a), {axis(a), Group::Axis{}}};
}

Group Ranks::group(int rank, Dim a, Dim b) const {
  expect(a != b, "a group along two dimensions has two of them");
  if (stride(b) < stride(a)) std::swap(a, b);
  const Coordinates here = coordinates(rank);
  return {rank - here[a] * stride(a) - here[b] * stride(b), {axis(a), axis(b)}};
}

std::vector<Group> Ranks::groups(Dim a) const {
  std::vector<Group> groups;
  for (int rank = 0; rank < world(); ++rank)
    if (coordinates(rank)[a] == 0) groups.push_back(group(rank, a));
  return groups;
}

std::vector<Group> Ranks::groups(Dim a, Dim b) const {
  std::vector<Group> groups;
  for (int rank = 0; rank < world(); ++rank)
    if (const Coordinates here = coordinates(rank); here[a] == 0 && here[b] == 0)
      groups.push_back(group(rank, a, b));
  return groups;
}

}  // namespace cpplan::layout
