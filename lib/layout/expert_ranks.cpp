#include "layout/expert_ranks.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/contract.hpp"

namespace cpplan::layout {

int ExpertDims::size(Dim d) const {
  switch (d) {
    case Dim::tp:
      return etp;
    case Dim::ep:
      return ep;
    case Dim::dp:
      return edp;
    case Dim::pp:
      return pp;
    case Dim::cp:
      break;
  }
  return 1;
}

std::optional<ExpertDims> expert_dims(Index world, Index etp, Index ep, Index pp) {
  const auto block = etp >= 1 && ep >= 1 && pp >= 1 ? checked_product(etp, ep, pp) : std::nullopt;
  if (!block || world < *block || world % *block != 0) return std::nullopt;
  return ExpertDims{static_cast<int>(etp), static_cast<int>(ep), static_cast<int>(world / *block),
                    static_cast<int>(pp)};
}

std::vector<Group> expert_groups(const ExpertDims& dims, const Order& order, Dim along) {
  int stride = 1, world = 1, stride_along = 1;
  for (const Dim d : order) {
    if (d == along) stride_along = stride;
    stride *= dims.size(d);
  }
  world = stride;
  std::vector<Group> groups;
  for (int rank = 0; rank < world; ++rank)
    if (rank / stride_along % dims.size(along) == 0)
      groups.push_back({rank, {Group::Axis{dims.size(along), stride_along}, Group::Axis{}}});
  return groups;
}

std::vector<Group> outermost_groups(int world, int ep) {
  expect(ep >= 1 && world % ep == 0, "expert parallelism divides the world");
  std::vector<Group> groups;
  for (int rank = 0; rank < world / ep; ++rank)
    groups.push_back({rank, {Group::Axis{ep, world / ep}, Group::Axis{}}});
  return groups;
}

}  // namespace cpplan::layout
