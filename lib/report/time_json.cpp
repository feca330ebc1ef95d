#include "report/time_json.hpp"

#include "plan/model_flops.hpp"

namespace cpplan::report {
namespace {

Json flops_json(const plan::EngineFlops& flops) {
  return Json::Object{{"busiest_rank_flops", flops.busiest.count},
                      {"busiest_rank", flops.busiest_rank},
                      {"mean_rank_flops", flops.mean},
                      {"rank_flops_by_formula", flops.formula},
                      {"flops_convention", plan::flops_convention},
                      {"attention_imbalance", flops.attention_imbalance}};
}

Json step_json(const plan::StepTime& time) {
  Json exposed = Json::array();
  for (const auto& row : time.exposed)
    exposed.push_back(Json::Object{{"group", row.group}, {"seconds", row.seconds}});
  return Json::Object{{"hardware_profile", time.hardware},
                      {"precision", time.precision},
                      {"step_seconds", time.seconds},
                      {"compute_seconds", time.compute_seconds},
                      {"bubble_seconds", time.bubble_seconds},
                      {"simulated_bubble_fraction", time.bubble_seconds / time.seconds},
                      {"imbalance_seconds", time.imbalance_seconds},
                      {"exposed_communication_seconds", time.exposed_seconds},
                      {"exposed", std::move(exposed)},
                      {"tokens_per_second_per_gpu", time.tokens_per_second_per_gpu},
                      {"mfu", time.mfu},
                      {"hfu", time.hfu},
                      {"model_flops", time.model_flops},
                      {"executed_flops", time.executed_flops}};
}

}  // namespace

Json time_json(const plan::Plan& plan) {
  return Json::Object{{"flops", plan.engine_flops ? flops_json(*plan.engine_flops) : Json()},
                      {"step", plan.time ? step_json(*plan.time) : Json()},
                      {"unknown_because", plan.no_time.empty() ? Json() : Json(plan.no_time)}};
}

}  // namespace cpplan::report
