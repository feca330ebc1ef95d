#pragma once
// Ranks and groups by arithmetic: a plan for a million ranks stores none of them.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "layout/parallel_dims.hpp"

namespace cpplan::layout {

enum class Dim : std::uint8_t { tp, cp, ep, dp, pp };
inline constexpr int dim_count = 5;
std::string_view name_of(Dim);

using Order = std::array<Dim, dim_count>;  // fastest dimension first, as Megatron writes it
inline constexpr Order megatron_order = {Dim::tp, Dim::cp, Dim::ep, Dim::dp, Dim::pp};
/// "tp-cp-ep-dp-pp", any permutation; dimensions left out are of size 1 and go last.
Result<Order> parse_order(std::string_view text);
std::string to_string(const Order&);

struct Coordinates {
  std::array<int, dim_count> at{};
  int& operator[](Dim d) { return at[static_cast<int>(d)]; }
  int operator[](Dim d) const { return at[static_cast<int>(d)]; }
  friend bool operator==(const Coordinates&, const Coordinates&) = default;
};

/// base + any sum of i * stride, i < count, first axis fastest.
struct Group {
  struct Axis {
    int count = 1, stride = 0;
  };
  int base = 0;
  std::array<Axis, 2> axes{};
  int size() const { return axes[0].count * axes[1].count; }
  int rank(int i) const {
    return base + i % axes[0].count * axes[0].stride + i / axes[0].count * axes[1].stride;
  }
  /// Place of world rank `r`, which must be a member.
  int index_of(int r) const;
  std::vector<int> members() const;
};

class Ranks {
 public:
  explicit Ranks(const ParallelDims&, Order order = megatron_order);

  int world() const;
  int size(Dim d) const { return size_[static_cast<int>(d)]; }
  int stride(Dim d) const { return stride_[static_cast<int>(d)]; }
  int rank(const Coordinates&) const;
  Coordinates coordinates(int rank) const;

  /// The peers of `rank` along a, or along a and b (the one of less stride fastest).
  Group group(int rank, Dim a) const;
  Group group(int rank, Dim a, Dim b) const;
  /// All groups along a (and b), in the order of their first ranks.
  std::vector<Group> groups(Dim a) const;
  std::vector<Group> groups(Dim a, Dim b) const;

 private:
  Group::Axis axis(Dim d) const { return {size(d), stride(d)}; }
  std::array<int, dim_count> size_{}, stride_{};
};

}  // namespace cpplan::layout
