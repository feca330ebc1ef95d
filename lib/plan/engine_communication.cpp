#include "plan/engine_communication.hpp"

#include <algorithm>

#include "plan/traffic_formulas.hpp"

namespace cpplan::plan {
namespace {
using layout::Dim;

std::vector<TrafficRow> traffic_of(const engine::Footprint& footprint) {
  std::vector<TrafficRow> rows;
  for (const auto& [key, traffic] : footprint.traffic)
    rows.push_back({key.first, key.second, traffic.sent, traffic.messages, {}, {}});
  return rows;
}

/// A formula without a row of its own shows as one of no bytes.
void add_formulas(std::vector<TrafficRow>& rows, const std::vector<TrafficFormula>& formulas) {
  for (const TrafficFormula& formula : formulas) {
    auto row = std::ranges::find_if(rows, [&](const TrafficRow& r) {
      return r.group == formula.group && r.collective == formula.collective;
    });
    if (row == rows.end())
      row = rows.insert(row, {formula.group, formula.collective, {}, 0, {}, {}});
    row->formula_bytes = formula.bytes;
    row->formula = formula.text;
  }
}

EngineRankClass class_of(const engine::Job& job, const layout::Coordinates& at,
                         const engine::Footprint& footprint) {
  EngineRankClass alike;
  alike.rank = layout::Ranks(job.dims, job.order).rank(at);
  alike.stage = at[Dim::pp];
  alike.traffic = traffic_of(footprint);
  for (const TrafficRow& row : alike.traffic)
    alike.bytes += row.bytes, alike.messages += row.messages;
  add_formulas(alike.traffic, traffic_formulas(job, alike.stage));
  return alike;
}

bool send_alike(const EngineRankClass& a, const EngineRankClass& b) {
  return a.stage == b.stage &&
         std::ranges::equal(a.traffic, b.traffic, [](const TrafficRow& x, const TrafficRow& y) {
           return x.group == y.group && x.collective == y.collective && x.bytes == y.bytes &&
                  x.messages == y.messages;
         });
}

void add_rank(std::vector<EngineRankClass>& classes, EngineRankClass rank) {
  const auto known =
      std::ranges::find_if(classes, [&](const auto& c) { return send_alike(c, rank); });
  if (known == classes.end())
    classes.push_back(std::move(rank));
  else
    known->ranks += rank.ranks;
}

std::vector<EngineRankClass> classes_of(const engine::Job& job, const FootprintOf& footprint_of) {
  const layout::Ranks ranks(job.dims, job.order);
  std::vector<EngineRankClass> classes;
  if (ranks.world() <= most_ranks_looked_at) {
    for (int rank = 0; rank < ranks.world(); ++rank) {
      const auto at = ranks.coordinates(rank);
      add_rank(classes, class_of(job, at, footprint_of(at)));
    }
    return classes;
  }
  for (int stage = 0; stage < job.dims.pp; ++stage) {
    layout::Coordinates at;
    at[Dim::pp] = stage;
    auto of_stage = class_of(job, at, footprint_of(at));
    of_stage.ranks = ranks.world() / job.dims.pp;
    add_rank(classes, std::move(of_stage));
  }
  return classes;
}

}  // namespace

EngineCommunication communication_of(const engine::Job& job, const FootprintOf& footprint_of) {
  EngineCommunication result{classes_of(job, footprint_of), 0};
  const auto most = std::ranges::max_element(
      result.classes, {}, [](const EngineRankClass& c) { return c.bytes.count; });
  result.heaviest = static_cast<std::size_t>(most - result.classes.begin());
  return result;
}

}  // namespace cpplan::plan
