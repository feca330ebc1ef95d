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

Group embedding_group(const Ranks& ranks, int rank) {
  const int stages = ranks.size(Dim::pp), stage = ranks.coordinates(rank)[Dim::pp];
  const bool at_an_end = stage == 0 || stage + 1 == stages;
  if (stages == 1 || !at_an_end) return {rank, {}};
  const int stride = ranks.stride(Dim::pp);
  return {rank - stage * stride, {Group::Axis{2, (stages - 1) * stride}, Group::Axis{}}};
}

Group kv_group(const Ranks& ranks, int rank, int copies) {
  expect(copies >= 1 && ranks.size(Dim::tp) % copies == 0, "copies of KV heads divide TP");
  const int stride = ranks.stride(Dim::tp);
  const int place = ranks.coordinates(rank)[Dim::tp] % copies;
  return {rank - place * stride, {Group::Axis{copies, stride}, Group::Axis{}}};
}

}  // namespace cpplan::layout
