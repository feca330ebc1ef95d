#include "record/run_record.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/files.hpp"
#include "base/json_reader.hpp"

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
                      {"group", row.group},
                      {"collective", row.collective},
                      {"planned_bytes", row.planned},
                      {"measured_bytes", row.measured},
                      {"messages", row.messages}};
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
          .messages = json.integer("messages")};
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
  const Reader memory = json.object("memory");
  record.memory = {{memory.integer("planned_peak_bytes")}, {memory.integer("measured_peak_bytes")}};
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
  json["memory"] = Json::Object{{"planned_peak_bytes", record.memory.planned_peak},
                                {"measured_peak_bytes", record.memory.measured_peak}};
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
