#include "train/measure.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "engine/groups.hpp"
#include "record/promises.hpp"
#include "train/gather.hpp"

namespace cpplan::train {
namespace {

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
    Index planned_messages = 0, messages = 0;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  using Traffic = std::array<Kind, kinds>;
  Traffic traffic;
  record::RankMemory memory;
  std::array<double, groups.size()> waited{};  // seconds
  double seconds = 0;                          // of the steps with these waits

  static constexpr std::size_t size = 4 * kinds + 3 + groups.size() + 1;
};

constexpr Index not_measured = -1;

void add_waits(Report& report, const std::vector<record::StepRecord>& steps,
               const WaitClock::Waited& waited) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (const auto entry = waited.find(groups[g]); entry != waited.end())
      report.waited[g] = entry->second.count();
  const std::size_t warm_up = steps.size() > 1 ? 1 : 0;
  for (std::size_t i = warm_up; i < steps.size(); ++i) report.seconds += steps[i].seconds;
}

Report make_report(Index steps, const engine::Footprint& planned, const Measurement& mine) {
  Report report;
  std::size_t reported = 0;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    auto& entry = report.traffic[kind];
    const auto plan = planned.traffic.find(key_of(kind));
    if (plan != planned.traffic.end()) {
      entry.planned = steps * plan->second.sent;
      entry.planned_messages = steps * plan->second.messages;
    }
    const auto posted = mine.posted.find(key_of(kind));
    if (posted == mine.posted.end()) continue;
    entry.measured = posted->second.bytes;
    entry.messages = posted->second.messages;
    ++reported;
  }
  expect(reported == mine.posted.size(), "every group and collective of a run is reported");
  report.memory = {.planned_peak = planned.memory.total(),
                   .measured_peak = mine.peak,
                   .resident_peak = mine.resident};
  return report;
}

std::vector<double> encode(const Report& report) {
  std::vector<double> values;
  const auto put = [&](Index count) { values.push_back(static_cast<double>(count)); };
  for (const auto& kind : report.traffic)
    put(kind.planned.count), put(kind.measured.count), put(kind.planned_messages),
        put(kind.messages);
  put(report.memory.planned_peak.count), put(report.memory.measured_peak.count);
  put(report.memory.resident_peak.value_or(Bytes{not_measured}).count);
  values.insert(values.end(), report.waited.begin(), report.waited.end());
  values.push_back(report.seconds);
  return values;
}

Report decode(int rank, std::span<const double> values) {
  Report report;
  std::size_t next = 0;
  const auto take = [&] { return static_cast<Index>(values[next++]); };
  for (auto& kind : report.traffic) {
    kind.planned = {take()};
    kind.measured = {take()};
    kind.planned_messages = take();
    kind.messages = take();
  }
  report.memory.rank = rank;
  report.memory.planned_peak = {take()};
  report.memory.measured_peak = {take()};
  if (const Index resident = take(); resident != not_measured)
    report.memory.resident_peak = Bytes{resident};
  for (double& waited : report.waited) waited = values[next++];
  report.seconds = values[next++];
  return report;
}

/// Ranks that planned and sent alike, by what they did.
using Classes = std::map<Report::Traffic, std::vector<int>>;

void add_traffic(record::RunRecord& record, const std::vector<int>& ranks,
                 const Report::Traffic& traffic) {
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const auto& entry = traffic[kind];
    if (entry.planned == Bytes{} && entry.messages == 0) continue;
    auto [group, collective] = key_of(kind);
    record.communication.push_back({.rank = ranks.front(),
                                    .group = std::move(group),
                                    .collective = std::move(collective),
                                    .planned = entry.planned,
                                    .measured = entry.measured,
                                    .messages = entry.messages,
                                    .ranks = std::ssize(ranks),
                                    .planned_messages = entry.planned_messages});
  }
}

void add_traffic(record::RunRecord& record, const Classes& classes) {
  std::map<int, Classes::const_iterator> by_first_rank;
  for (auto alike = classes.begin(); alike != classes.end(); ++alike)
    by_first_rank[alike->second.front()] = alike;
  for (const auto& [first, alike] : by_first_rank) add_traffic(record, alike->second, alike->first);
}

void add_memory(record::MemoryRecord& memory, const record::RankMemory& rank) {
  memory.planned_peak = std::max(memory.planned_peak, rank.planned_peak);
  memory.measured_peak = std::max(memory.measured_peak, rank.measured_peak);
  memory.ranks.push_back(rank);
}

record::RankWaits waits_of(const Report& report) {
  const double waited = std::accumulate(report.waited.begin(), report.waited.end(), 0.0);
  return {report.memory.rank, report.seconds - waited, waited};
}

/// Groups of more than one rank, each once: that of its first member. Those of one name that share
/// their ranks (activations and gradients between stages) were counted as one.
std::vector<record::GroupWaits> group_waits(const TrainingRun& run,
                                            const std::vector<Report>& reports) {
  std::vector<record::GroupWaits> result;
  std::set<std::pair<std::string_view, int>> seen;
  const layout::Ranks ranks(run.job.dims, run.job.order);
  for (int rank = 0; rank < ranks.world(); ++rank)
    for (const auto& [name, number, group] :
         comm::named_groups(ranks, rank, engine::group_settings(run.job))) {
      const auto place = std::ranges::find(groups, name) - groups.begin();
      if (group.size() < 2 || !seen.emplace(name, group.members().front()).second) continue;
      record::GroupWaits waits{std::string(name), group.members(), {}};
      for (const int member : waits.ranks)
        waits.seconds.push_back(
            reports[static_cast<std::size_t>(member)].waited[static_cast<std::size_t>(place)]);
      if (std::ranges::any_of(waits.seconds, [](double s) { return s > 0; }))
        result.push_back(std::move(waits));
    }
  return result;
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
  Report own = make_report(std::ssize(record.steps), planned, mine);
  add_waits(own, record.steps, mine.waited);
  const auto all = gather(encode(own), rank);
  if (rank.number != 0) return;
  Classes classes;
  std::vector<Report> reports;
  for (int r = 0; r < run.job.dims.world(); ++r) {
    const auto first = static_cast<std::size_t>(r) * Report::size;
    reports.push_back(decode(r, std::span(all).subspan(first, Report::size)));
    classes[reports.back().traffic].push_back(r);
    add_memory(record.memory, reports.back().memory);
    record.waits.ranks.push_back(waits_of(reports.back()));
  }
  add_traffic(record, classes);
  record.waits.groups = group_waits(run, reports);
  record.broken_promises = record::broken_promises(record);
}

}  // namespace cpplan::train
