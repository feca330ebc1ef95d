#include "launch/rank_map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "launch/binding.hpp"

namespace cpplan::launch {
namespace {
using layout::Dim;

/// Columns as wide as the largest number or name in them.
struct Widths {
  std::size_t rank = 1, host = 1, local = 1;

  explicit Widths(const std::vector<RankPlace>& ranks) {
    for (const RankPlace& place : ranks) {
      rank = std::max(rank, std::to_string(place.rank).size());
      local = std::max(local, std::to_string(place.local_rank).size());
      host = std::max(host, place.host.size());
    }
  }
};

std::string line_of(const RankPlace& place, const Widths& widths) {
  const auto& at = place.at;
  const auto known = [](const char* name, std::optional<Index> number) {
    return number ? fmt::format("  {} {}", name, *number) : "";
  };
  return fmt::format("rank {:<{}}  host {:<{}}  local {:<{}}{}{}  tp {}  cp {}  pp {}  dp {}\n",
                     place.rank, widths.rank, place.host, widths.host, place.local_rank,
                     widths.local, known("device", place.device), known("numa", place.numa),
                     at[Dim::tp], at[Dim::cp], at[Dim::pp], at[Dim::dp]);
}

}  // namespace

std::vector<RankPlace> map_ranks(const layout::Ranks& ranks, const Placement& placement,
                                 Devices devices, const Here& here) {
  std::vector<RankPlace> places;
  for (int rank = 0; rank < ranks.world(); ++rank) {
    const Index local = placement.local_rank(rank);
    const auto& share = placement.shares()[placement.share_of(rank)];
    const bool known = share.host == here.host && here.numa_nodes > 1;
    const auto numa = [&] { return numa_node_of({local, share.ranks}, here.numa_nodes); };
    places.push_back(
        {.rank = rank,
         .local_rank = local,
         .host = placement.host_of(rank),
         .device = devices == Devices::one_a_rank ? std::optional(local) : std::nullopt,
         .numa = known ? std::optional(static_cast<Index>(numa())) : std::nullopt,
         .at = ranks.coordinates(rank)});
  }
  return places;
}

std::string to_text(const std::vector<RankPlace>& ranks) {
  const Widths widths(ranks);
  std::string text;
  for (const RankPlace& place : ranks) text += line_of(place, widths);
  return text;
}

Json to_json(const std::vector<RankPlace>& ranks) {
  Json json = Json::array();
  for (const RankPlace& place : ranks) {
    Json entry = Json::Object{{"rank", place.rank},
                              {"host", place.host},
                              {"local_rank", place.local_rank},
                              {"device", place.device ? Json(*place.device) : Json()},
                              {"numa_node", place.numa ? Json(*place.numa) : Json()}};
    for (const Dim dim : {Dim::tp, Dim::cp, Dim::ep, Dim::pp, Dim::dp})
      entry[layout::name_of(dim)] = place.at[dim];
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace cpplan::launch
