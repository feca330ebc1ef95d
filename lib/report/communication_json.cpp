#include "report/communication_json.hpp"

#include <cmath>

#include "report/json_values.hpp"

namespace cpplan::report {
namespace {

/// Whole bytes, where the formula has them.
Json formula_bytes(const std::optional<double>& bytes) {
  if (!bytes) return Json();
  const double whole = std::round(*bytes);
  return whole == *bytes && whole < 0x1p53 ? Json(static_cast<Index>(whole)) : Json(*bytes);
}

Json traffic_json(const std::vector<plan::TrafficRow>& rows) {
  Json json = Json::array();
  for (const plan::TrafficRow& row : rows)
    json.push_back(Json::Object{{"group", row.group},
                                {"collective", row.collective},
                                {"bytes", row.bytes},
                                {"messages", row.messages},
                                {"formula_bytes", formula_bytes(row.formula_bytes)},
                                {"formula", row.formula.empty() ? Json() : Json(row.formula)}});
  return json;
}

Json class_json(const plan::EngineRankClass& alike) {
  return Json::Object{{"rank", alike.rank},
                      {"ranks", alike.ranks},
                      {"stage", alike.stage},
                      {"sent_bytes", alike.bytes},
                      {"sent_messages", alike.messages},
                      {"traffic", traffic_json(alike.traffic)}};
}

Json engine_json(const plan::EngineCommunication& communication) {
  const plan::EngineRankClass& heaviest = communication.heaviest_class();
  Json classes = Json::array();
  for (const auto& alike : communication.classes) classes.push_back(class_json(alike));
  return Json::Object{{"heaviest_sender", heaviest.rank},
                      {"sent_bytes_per_step", heaviest.bytes},
                      {"messages_per_step", heaviest.messages},
                      {"traffic", traffic_json(heaviest.traffic)},
                      {"rank_classes", std::move(classes)}};
}

}  // namespace

Json communication_json(const plan::Plan& plan) {
  const auto& engine = plan.engine_communication;
  return Json::Object{
      {"engine", engine ? engine_json(*engine) : Json()},
      {"engine_unknown_because", plan.no_engine.empty() ? Json() : Json(plan.no_engine)}};
}

}  // namespace cpplan::report
