#include "report/plan_json.hpp"

#include "diag/render_json.hpp"
#include "report/communication_json.hpp"
#include "report/config_json.hpp"
#include "report/groups_json.hpp"
#include "report/json_values.hpp"
#include "report/launch_lines.hpp"
#include "report/memory_json.hpp"
#include "report/sequence_json.hpp"
#include "report/steps_json.hpp"
#include "report/time_json.hpp"

namespace cpplan::report {
namespace {

Json local_rank_json(const cluster::Environment& environment) {
  return environment.local_rank ? Json(environment.local_rank->number) : Json();
}

Json world_json(const plan::Plan& plan) {
  const plan::World& world = plan.world;
  const cluster::Environment& environment = plan.environment;
  const auto& hosts = environment.hosts;
  return Json::Object{{"world_size", world.size},
                      {"world_size_source", world.source},
                      {"nodes", or_null(world.nodes)},
                      {"gpus_per_node", or_null(world.gpus_per_node)},
                      {"tasks_per_node", environment.tasks_per_node},
                      {"hosts", hosts},
                      {"first_host", hosts.empty() ? Json() : Json(hosts.front())},
                      {"local_rank", local_rank_json(environment)}};
}

Json global_batch_json(const plan::GlobalBatch& global) {
  return Json::Object{{"wanted", global.wanted},
                      {"accumulation", or_null(global.gradient_accumulation_steps)},
                      {"nearest", global.nearest}};
}

Json batch_json(const plan::Plan& plan) {
  const plan::Batch& batch = plan.batch;
  Json json = Json::Object{{"effective_world_size", batch.effective_world_size},
                           {"batch_size", or_null(counted(batch.batch_size))},
                           {"tokens_per_step", or_null(counted(batch.tokens_per_step))}};
  json["num_micro_batches"] = batch.gradient_accumulation_steps;
  if (plan.megatron) json["global_batch_size"] = or_null(counted(plan.megatron->global_batch_size));
  if (plan.megatron) json["global_batch_size"] = or_null(counted(plan.megatron->global_batch_size));
  if (plan.megatron) json["num_micro_batches"] = batch.gradient_accumulation_steps;
  if (plan.global_batch) json["global_batch"] = global_batch_json(*plan.global_batch);
  return json;
}

Json dimensions_json(const std::vector<plan::DimensionRow>& rows) {
  Json json = Json::array();
  for (const plan::DimensionRow& row : rows)
    json.push_back(Json::Object{{"dimension", row.dimension},
                                {"size", row.size},
                                {"splits", row.splits},
                                {"copies", row.copies},
                                {"collective", row.collective},
                                {"bytes_per_step", or_null(row.bytes_per_step)}});
  return json;
}

Json layout_json(const plan::Plan& plan) {
  const plan::LayoutPlan& layout = plan.layout;
  Json json =
      Json::Object{{"rank_order", layout::to_string(layout.order)},
                   {"weight_shards", layout.weight_shards},
                   {"weight_replicas", layout.weight_replicas},
                   {"layers_per_stage", layout.stage_layers.empty() ? Json() : layout.stage_layers},
                   {"bubble_fraction", or_null(layout.bubble_fraction)},
                   {"dimensions", dimensions_json(layout.dimensions)}};
  if (plan.megatron) json["padded_vocab_size"] = or_null(plan.megatron->padded_vocab_size);
  if (plan.megatron) json["virtual_stages"] = or_null(plan.megatron->virtual_stages);
  for (auto& [name, groups] : groups_json(layout)) json[name] = std::move(groups);
  return json;
}

}  // namespace

Json plan_json(const plan::Plan& plan, const diag::Diagnostics& findings) {
  Json json = Json::Object{
      {"schema", "cpplan/plan/1"},       {"summary", diag::summary_json(diag::summarize(findings))},
      {"config", config_json(plan)},     {"world", world_json(plan)},
      {"batch", batch_json(plan)},       {"data", data_json(plan.steps)},
      {"steps", steps_json(plan.steps)}, {"packing", packing_json(plan)},
      {"sequence", sequence_json(plan)}, {"layout", layout_json(plan)},
      {"memory", memory_json(plan)},     {"communication", communication_json(plan)},
      {"time", time_json(plan)}};
  if (plan.as_version) json["as"] = as_json(*plan.as_version);
  json["diagnostics"] = diag::diagnostics_json(findings);
  return json;
}

}  // namespace cpplan::report
