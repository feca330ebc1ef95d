#include "train/measure.hpp"

#include <algorithm>
#include <array>

#include "train/gather.hpp"

namespace cpplan::train {
namespace {
using layout::Dim;

constexpr std::array<std::string_view, 11> groups = {
    "tp",          "cp",           "cp_inner", "cp_outer",  "pp",   "dp_cp",
    "dp_shard_cp", "dp_replicate", "tp_kv",    "embedding", "world"};
constexpr std::array collectives = {comm::Collective::exchange, comm::Collective::all_gather,
                                    comm::Collective::reduce_scatter, comm::Collective::all_reduce};
constexpr std::size_t kinds = groups.size() * collectives.size();

std::pair<std::string, std::string> key_of(std::size_t kind) {
  return {std::string(groups[kind / collectives.size()]),
          std::string(comm::name_of(collectives[kind % collectives.size()]))};
}

/// What a rank says to rank 0. Counts below 2^53 are exact as doubles.
struct Report {
  struct Kind {
    Bytes planned, measured;
    Index messages = 0;
  };
  std::array<Kind, kinds> traffic;
  Bytes planned_peak, measured_peak;

  static constexpr std::size_t size = 3 * kinds + 2;
};

Report make_report(const TrainingRun& run, const engine::Footprint& planned,
                   const Measurement& mine) {
  Report report;
  std::size_t reported = 0;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    auto& entry = report.traffic[kind];
    const auto plan = planned.traffic.find(key_of(kind));
    if (plan != planned.traffic.end()) entry.planned = run.steps * plan->second.sent;
    const auto posted = mine.posted.find(key_of(kind));
    if (posted == mine.posted.end()) continue;
    entry.measured = posted->second.bytes;
    entry.messages = posted->second.messages;
    ++reported;
  }
  expect(reported == mine.posted.size(), "every group and collective of a run is reported");
  report.planned_peak = planned.memory.total();
  report.measured_peak = mine.peak;
  return report;
}

std::vector<double> encode(const Report& report) {
  std::vector<double> values;
  const auto put = [&](Index count) { values.push_back(static_cast<double>(count)); };
  for (const auto& kind : report.traffic)
    put(kind.planned.count), put(kind.measured.count), put(kind.messages);
  put(report.planned_peak.count), put(report.measured_peak.count);
  return values;
}

Report decode(std::span<const double> values) {
  Report report;
  std::size_t next = 0;
  const auto take = [&] { return static_cast<Index>(values[next++]); };
  for (auto& kind : report.traffic) {
    kind.planned = {take()};
    kind.measured = {take()};
    kind.messages = take();
  }
  report.planned_peak = {take()};
  report.measured_peak = {take()};
  return report;
}

void add_traffic(record::RunRecord& record, int rank, const Report& report) {
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const auto& entry = report.traffic[kind];
    if (entry.planned == Bytes{} && entry.messages == 0) continue;
    auto [group, collective] = key_of(kind);
    record.communication.push_back({.rank = rank,
                                    .group = std::move(group),
                                    .collective = std::move(collective),
                                    .planned = entry.planned,
                                    .measured = entry.measured,
                                    .messages = entry.messages});
  }
}

}  // namespace

comm::Ledger difference(const comm::Ledger& after, const comm::Ledger& before) {
  comm::Ledger result;
  for (const auto& [key, posted] : after) {
    const auto earlier = before.find(key);
    const comm::Posted base = earlier == before.end() ? comm::Posted{} : earlier->second;
    const comm::Posted more{posted.bytes - base.bytes, posted.messages - base.messages};
    if (more != comm::Posted{}) result[key] = more;
  }
  return result;
}

void add_measurements(record::RunRecord& record, const TrainingRun& run,
                      const engine::Footprint& planned, const Measurement& mine, const Rank& rank) {
  const auto all = gather(encode(make_report(run, planned, mine)), rank);
  if (rank.number != 0) return;
  const layout::Ranks ranks(run.job.dims, run.job.order);
  const auto report_of = [&](int r) {
    return decode(std::span(all).subspan(static_cast<std::size_t>(r) * Report::size, Report::size));
  };
  for (int stage = 0; stage < run.job.dims.pp; ++stage) {
    layout::Coordinates at;
    at[Dim::pp] = stage;
    add_traffic(record, ranks.rank(at), report_of(ranks.rank(at)));
  }
  for (int r = 0; r < ranks.world(); ++r) {
    const Report report = report_of(r);
    if (report.planned_peak > record.memory.planned_peak)
      record.memory.planned_peak = report.planned_peak;
    record.memory.measured_peak = std::max(record.memory.measured_peak, report.measured_peak);
  }
}

}  // namespace cpplan::train
