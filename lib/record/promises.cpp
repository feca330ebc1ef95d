#include "record/promises.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/contract.hpp"
#include "base/text.hpp"

namespace cpplan::record {
namespace {

std::string traffic_sentence(const TrafficRecord& row) {
  const std::string who = row.ranks == 1
                              ? fmt::format("rank {} sent", row.rank)
                              : fmt::format("rank {} and {} like it sent", row.rank, row.ranks - 1);
  if (row.measured == row.planned)
    return fmt::format("{} its bytes by {} over {} in {} messages, planned {}", who, row.collective,
                       row.group, with_thousands(row.messages),
                       with_thousands(row.planned_messages));
  return fmt::format("{} {} bytes by {} over {}, planned {}", who,
                     with_thousands(row.measured.count), row.collective, row.group,
                     with_thousands(row.planned.count));
}

/// Of the planned bytes, by which share the measured ones are more (or, below 0, less).
double excess(const RankMemory& memory) {
  const auto planned = static_cast<double>(memory.planned_peak.count);
  const auto measured = static_cast<double>(memory.measured_peak.count);
  return planned > 0 ? measured / planned - 1 : measured;
}

std::string memory_sentence(const RankMemory& memory) {
  return fmt::format("rank {} held {}, planned {} ({:+.1f} %)", memory.rank,
                     human_bytes(memory.measured_peak), human_bytes(memory.planned_peak),
                     100 * excess(memory));
}

}  // namespace

std::vector<std::string> broken_promises(const RunRecord& record) {
  std::vector<std::string> broken;
  for (const TrafficRecord& row : record.communication)
    if (row.measured != row.planned || row.messages != row.planned_messages)
      broken.push_back(traffic_sentence(row));
  for (const RankMemory& memory : record.memory.ranks)
    if (std::abs(excess(memory)) > memory_tolerance) broken.push_back(memory_sentence(memory));
  return broken;
}

std::string check_message(const std::vector<std::string>& broken) {
  expect(!broken.empty(), "a message is about something");
  constexpr std::size_t most = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(most, broken.size()); ++i)
    list += (i == 0 ? "" : "; ") + broken[i];
  if (broken.size() > most) list += fmt::format("; and {} more", broken.size() - most);
  return fmt::format(
      "the run was not what was planned ({}). this is our bug: please report it with the --record "
      "of the run",
      list);
}

double median_step_seconds(const std::vector<StepRecord>& steps) {
  std::vector<double> seconds;
  for (const StepRecord& step : steps) seconds.push_back(step.seconds);
  if (seconds.empty()) return 0;
  if (seconds.size() > 1) seconds.erase(seconds.begin());
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

}  // namespace cpplan::record
