#include "record/run_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/files.hpp"
#include "base/json_reader.hpp"
#include "record/stragglers.hpp"

namespace cpplan::record {
namespace {

Json layout_json(const RunRecord& record) {
  const layout::ParallelDims& dims = record.dims;
  Json json = Json::object();
  json["tp"] = dims.tp, json["cp"] = dims.cp, json["pp"] = dims.pp, json["dp"] = dims.dp;
  json["sequence_parallel"] = dims.sequence_parallel;
  json["order"] = layout::to_string(record.order);
  json["world_size"] = dims.world();
  return json;
}

Json step_json(const StepRecord& step) {
  return Json::Object{{"step", step.step},
                      {"loss", step.loss},
                      {"grad_norm", step.grad_norm},
                      {"learning_rate", step.learning_rate},
                      {"tokens_per_second", step.tokens_per_second},
                      {"seconds", step.seconds}};
}

Json traffic_json(const TrafficRecord& row) {
  return Json::Object{{"rank", row.rank},
                      {"ranks", row.ranks},
                      {"group", row.group},
                      {"collective", row.collective},
                      {"planned_bytes", row.planned},
                      {"measured_bytes", row.measured},
                      {"planned_messages", row.planned_messages},
                      {"messages", row.messages}};
}

Json memory_json(const MemoryRecord& memory) {
  Json ranks = Json::array();
  for (const RankMemory& rank : memory.ranks)
    ranks.push_back(Json::Object{
        {"rank", rank.rank},
        {"planned_peak_bytes", rank.planned_peak},
        {"measured_peak_bytes", rank.measured_peak},
        {"resident_peak_bytes", rank.resident_peak ? Json(*rank.resident_peak) : Json()}});
  return Json::Object{{"planned_peak_bytes", memory.planned_peak},
                      {"measured_peak_bytes", memory.measured_peak},
                      {"ranks", std::move(ranks)}};
}

Json time_json(const TimeRecord& time) {
  return Json::Object{{"predicted_step_seconds", time.predicted ? Json(*time.predicted) : Json()},
                      {"measured_step_seconds", time.measured}};
}

Json waits_json(const WaitRecord& waits) {
  Json ranks = Json::array(), groups = Json::array();
  for (const RankWaits& rank : waits.ranks)
    ranks.push_back(Json::Object{
        {"rank", rank.rank}, {"computed_seconds", rank.busy}, {"waited_seconds", rank.waited}});
  for (const GroupWaits& group : waits.groups)
    groups.push_back(Json::Object{{"group", group.group},
                                  {"ranks", group.ranks},
                                  {"waited_seconds", group.seconds},
                                  {"straggler", straggler_of(group)},
                                  {"held_up_seconds", held_up(group)}});
  return Json::Object{{"ranks", std::move(ranks)}, {"groups", std::move(groups)}};
}

Json check_json(const std::vector<std::string>& broken) {
  return Json::Object{{"holds", broken.empty()}, {"broken", broken}};
}

Json parameters_json(const std::vector<ParameterRecord>& parameters) {
  Json json = Json::object();
  for (const auto& parameter : parameters)
    json[parameter.name] = Json::Object{{"grad_norm", parameter.grad_norm}};
  return json;
}

using Reader = JsonReader;

StepRecord step_from(const Reader& json) {
  return {.step = json.integer("step"),
          .loss = json.number("loss"),
          .grad_norm = json.number("grad_norm"),
          .learning_rate = json.number("learning_rate"),
          .tokens_per_second = json.number("tokens_per_second"),
          .seconds = json.number("seconds")};
}

TrafficRecord traffic_from(const Reader& json) {
  return {.rank = static_cast<int>(json.integer("rank")),
          .group = json.text("group"),
          .collective = json.text("collective"),
          .planned = {json.integer("planned_bytes")},
          .measured = {json.integer("measured_bytes")},
          .messages = json.integer("messages"),
          .ranks = json.integer("ranks"),
          .planned_messages = json.integer("planned_messages")};
}

RankMemory rank_memory_from(const Reader& json) {
  const Json* resident = json.json().find("resident_peak_bytes");
  const bool measured = resident && resident->is_integer();
  return {.rank = static_cast<int>(json.integer("rank")),
          .planned_peak = {json.integer("planned_peak_bytes")},
          .measured_peak = {json.integer("measured_peak_bytes")},
          .resident_peak = measured ? std::optional(Bytes{resident->as_integer()}) : std::nullopt};
}

MemoryRecord memory_from(const Reader& json) {
  MemoryRecord memory{
      {json.integer("planned_peak_bytes")}, {json.integer("measured_peak_bytes")}, {}};
  json.each("ranks", [&](const Reader& rank) { memory.ranks.push_back(rank_memory_from(rank)); });
  return memory;
}

GroupWaits group_waits_from(const Reader& json) {
  GroupWaits group{json.text("group"), {}, {}};
  json.each("ranks", [&](const Reader& rank) {
    if (rank.json().is_integer()) group.ranks.push_back(static_cast<int>(rank.json().as_integer()));
  });
  json.each("waited_seconds", [&](const Reader& seconds) {
    if (seconds.json().is_number()) group.seconds.push_back(seconds.json().as_double());
  });
  return group;
}

WaitRecord waits_from(const Reader& json) {
  WaitRecord waits;
  json.each("ranks", [&](const Reader& rank) {
    waits.ranks.push_back({static_cast<int>(rank.integer("rank")), rank.number("computed_seconds"),
                           rank.number("waited_seconds")});
  });
  json.each("groups",
            [&](const Reader& group) { waits.groups.push_back(group_waits_from(group)); });
  return waits;
}

TimeRecord time_from(const Reader& json) {
  const double predicted = json.number("predicted_step_seconds");
  return {std::isnan(predicted) ? std::nullopt : std::optional(predicted),
          json.number("measured_step_seconds")};
}

void read_layout(const Reader& json, RunRecord& record, std::optional<Error>& error) {
  const auto dims =
      layout::make_parallel_dims(json.integer("tp"), json.integer("cp"), json.integer("pp"),
                                 json.integer("dp"), json.flag("sequence_parallel"));
  const auto order = layout::parse_order(json.text("order"));
  if (error) return;
  if (!dims || !order)
    error = dims ? order.error() : dims.error();
  else
    record.dims = *dims, record.order = *order;
}

RunRecord read_members(const Reader& json, std::optional<Error>& error) {
  RunRecord record;
  read_layout(json.object("layout"), record, error);
  record.backend = json.text("backend");
  record.transport = json.text("transport");
  json.each("steps", [&](const Reader& step) { record.steps.push_back(step_from(step)); });
  const Reader parameters = json.object("parameters");
  for (const Json::Member& member : parameters.json().members())
    record.parameters.push_back({member.first, parameters.member(member).number("grad_norm")});
  json.each("communication",
            [&](const Reader& row) { record.communication.push_back(traffic_from(row)); });
  record.memory = memory_from(json.object("memory"));
  record.time = time_from(json.object("time"));
  if (json.json().find("waits"))
    record.waits = waits_from(json.object("waits"));  // not of old ones
  json.object("check").each("broken", [&](const Reader& sentence) {
    if (sentence.json().is_string()) record.broken_promises.push_back(sentence.json().as_string());
  });
  record.exit = static_cast<int>(json.integer("exit"));
  return record;
}

}  // namespace

Json to_json(const RunRecord& record) {
  Json json = Json::object(), steps = Json::array(), communication = Json::array();
  for (const StepRecord& step : record.steps) steps.push_back(step_json(step));
  for (const TrafficRecord& row : record.communication) communication.push_back(traffic_json(row));
  json["schema"] = RunRecord::schema;
  json["layout"] = layout_json(record);
  json["backend"] = record.backend;
  json["transport"] = record.transport;
  json["steps"] = steps;
  json["parameters"] = parameters_json(record.parameters);
  json["communication"] = communication;
  json["memory"] = memory_json(record.memory);
  json["time"] = time_json(record.time);
  json["waits"] = waits_json(record.waits);
  json["check"] = check_json(record.broken_promises);
  json["exit"] = record.exit;
  return json;
}

Result<RunRecord> run_record_from(const Json& json) {
  const Json* schema = json.is_object() ? json.find("schema") : nullptr;
  if (!schema || !schema->is_string() || schema->as_string() != RunRecord::schema)
    return failure(fmt::format("not a run record (its schema is not \"{}\")", RunRecord::schema));
  std::optional<Error> error;
  RunRecord record = read_members(Reader(json, "run record", error), error);
  if (error) return tl::unexpected(*error);
  return record;
}

Result<void> write_run_record(const std::filesystem::path& path, const RunRecord& record) {
  return write_file_atomically(path, to_json(record).dump() + "\n");
}

Result<RunRecord> read_run_record(const std::filesystem::path& path) {
  return read_file(path).and_then(Json::parse).and_then(run_record_from);
}

}  // namespace cpplan::record
