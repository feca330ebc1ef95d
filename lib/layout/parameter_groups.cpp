#include "layout/parameter_groups.hpp"

#include <utility>

#include "base/contract.hpp"

namespace cpplan::layout {
namespace {

int places_of_copy(const Ranks& ranks, int replicate) {
  expect(replicate >= 1 && ranks.size(Dim::dp) % replicate == 0, "copies divide DP");
  return ranks.size(Dim::dp) / replicate;
}

}  // namespace

Group shard_group(const Ranks& ranks, int rank, int replicate) {
  const int places = places_of_copy(ranks, replicate);
  const Coordinates here = ranks.coordinates(rank);
  Group::Axis cp{ranks.size(Dim::cp), ranks.stride(Dim::cp)};
  Group::Axis dp{places, ranks.stride(Dim::dp)};
  const int base = rank - here[Dim::cp] * cp.stride - here[Dim::dp] % places * dp.stride;
  if (dp.stride < cp.stride) std::swap(cp, dp);
  return {base, {cp, dp}};
}

Group replicate_group(const Ranks& ranks, int rank, int replicate) {
  const int places = places_of_copy(ranks, replicate);
  const int stride = places * ranks.stride(Dim::dp);
  const int copy = ranks.coordinates(rank)[Dim::dp] / places;
  return {rank - copy * stride, {Group::Axis{replicate, stride}, Group::Axis{}}};
}

}  // namespace cpplan::layout
