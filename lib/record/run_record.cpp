#include "record/run_record.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/files.hpp"

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

/// Takes members out of an object and remembers the first that was not there.
class Reader {
 public:
  Reader(const Json& json, std::string path, std::optional<Error>& error)
      : json_(json), path_(std::move(path)), error_(error) {}

  Index integer(std::string_view key) const {
    const Json* member = find(key, "an integer", &Json::is_integer);
    return member ? member->as_integer() : 0;
  }
  double number(std::string_view key) const {
    const Json* null = json_.find(key);  // NaN and infinities are written as null
    if (null && null->is_null()) return std::numeric_limits<double>::quiet_NaN();
    const Json* member = find(key, "a number", &Json::is_number);
    return member ? member->as_double() : 0;
  }
  std::string text(std::string_view key) const {
    const Json* member = find(key, "a string", &Json::is_string);
    return member ? member->as_string() : "";
  }
  bool flag(std::string_view key) const {
    const Json* member = find(key, "true or false", &Json::is_bool);
    return member && member->as_bool();
  }
  Reader object(std::string_view key) const {
    const Json* member = find(key, "an object", &Json::is_object);
    return {member ? *member : empty(), path_ + std::string(key) + ".", error_};
  }
  template <class F>
  void each(std::string_view key, F&& read) const {
    const Json* member = find(key, "a list", &Json::is_array);
    if (!member) return;
    Index i = 0;
    for (const Json& element : member->elements())
      read(Reader(element, fmt::format("{}{}.{}.", path_, key, i++), error_));
  }
  const Json& json() const { return json_; }
  Reader member(const Json::Member& member) const {
    return {member.second, path_ + member.first + ".", error_};
  }

 private:
  static const Json& empty() {
    static const Json object = Json::object();
    return object;
  }

  const Json* find(std::string_view key, std::string_view kind, bool (Json::*is)() const) const {
    const Json* member = json_.is_object() ? json_.find(key) : nullptr;
    if (member && (member->*is)()) return member;
    if (!error_)
      error_ = Error{
          fmt::format("run record has no \"{}{}\" (the schema wants {} there)", path_, key, kind)};
    return nullptr;
  }

  const Json& json_;
  std::string path_;
  std::optional<Error>& error_;
};

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
  RunRecord record = read_members(Reader(json, "", error), error);
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
