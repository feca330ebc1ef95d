#include "record/rank_report.hpp"

#include <algorithm>

#include "base/json_reader.hpp"

namespace cpplan::record {
namespace {

/// A word that no rank prints by chance.
constexpr std::string_view mark = "@cpplan-rank ";

Json to_json(const RankReport& report) {
  const RankStatus& status = report.status;
  return Json::Object{{"rank", status.rank},
                      {"pid", status.pid},
                      {"ticks", status.start_ticks},
                      {"host", status.host},
                      {"state", static_cast<int>(status.state)},
                      {"step", status.step},
                      {"group", status.group},
                      {"operation", status.operation},
                      {"since", status.since},
                      {"limit", status.limit_seconds},
                      {"words", status.last_words},
                      {"updates", status.updates},
                      {"exit", report.exit_code}};
}

RankReport read_report(const JsonReader& reader) {
  RankReport report;
  RankStatus& status = report.status;
  status.rank = static_cast<int>(reader.integer("rank"));
  status.pid = static_cast<int>(reader.integer("pid"));
  status.start_ticks = reader.integer("ticks");
  status.host = reader.text("host");
  status.state = static_cast<RankState>(reader.integer("state"));
  status.step = reader.integer("step");
  status.group = reader.text("group");
  status.operation = reader.text("operation");
  status.since = reader.number("since");
  status.limit_seconds = reader.number("limit");
  status.last_words = reader.text("words");
  status.updates = reader.integer("updates");
  report.exit_code = static_cast<int>(reader.integer("exit"));
  return report;
}

}  // namespace

std::string report_line(const RankReport& report) {
  std::string line = std::string(mark) + to_json(report).dump(-1);
  if (line.size() <= longest_report) return line;
  RankReport shorter = report;
  const std::size_t excess = line.size() - longest_report;
  auto& words = shorter.status.last_words;
  words.resize(words.size() - std::min(words.size(), excess));
  return report_line(shorter);
}

std::optional<RankReport> parse_report(std::string_view line) {
  if (!line.starts_with(mark)) return {};
  const auto json = Json::parse(line.substr(mark.size()));
  if (!json || !json->is_object()) return {};
  std::optional<Error> error;
  const RankReport report = read_report(JsonReader(*json, "report of a rank", error));
  const bool known = report.status.state <= RankState::checkpointed;
  return known && !error ? std::optional(report) : std::nullopt;
}

}  // namespace cpplan::record
