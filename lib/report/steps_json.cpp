#include "report/steps_json.hpp"

#include "report/json_values.hpp"

namespace cpplan::report {
namespace {

Json learning_rates_json(const std::vector<plan::LearningRatePoint>& points) {
  Json json = Json::array();
  for (const auto& point : points)
    json.push_back(Json::Object{{"at", point.at}, {"step", point.step}, {"value", point.value}});
  return json;
}

Json formulas_json(const std::vector<plan::Formula>& formulas) {
  Json json = Json::array();
  for (const auto& formula : formulas)
    json.push_back(Json::Object{{"name", formula.name}, {"text", formula.text}});
  return json;
}

void add_points(Json& json, const std::string& what, const plan::Points& points) {
  json[what + "_strategy"] = points.strategy;
  json[what + "_steps"] = or_null(points.interval);
  json[what + "s"] = points.count;
  json[what + "_points"] = points.steps;
}

}  // namespace

Json data_json(const plan::Steps& steps) {
  return Json::Object{{"rows", or_null(steps.rows)},
                      {"rows_after_shard", or_null(steps.rows_after_shard)},
                      {"rows_too_long", or_null(steps.rows_too_long)},
                      {"rows_too_short", or_null(steps.rows_too_short)},
                      {"train_rows", or_null(steps.train_rows)},
                      {"eval_rows", or_null(steps.eval_rows)},
                      {"total_num_tokens", or_null(steps.total_num_tokens)},
                      {"eval_num_tokens", or_null(steps.eval_num_tokens)}};
}

Json steps_json(const plan::Steps& steps) {
  Json json = Json::Object{{"total_num_steps", or_null(steps.total_num_steps)},
                           {"steps_path", steps.path},
                           {"steps_formula", steps.formula},
                           {"upstream_value", or_null(steps.upstream_value)},
                           {"eval_num_steps", or_null(steps.eval_num_steps)},
                           {"trainer_max_steps", or_null(steps.trainer_max_steps)},
                           {"epochs", or_null(steps.epochs)},
                           {"steps_per_epoch", or_null(steps.steps_per_epoch)},
                           {"warmup_steps", or_null(steps.warmup_steps)},
                           {"learning_rates", learning_rates_json(steps.learning_rates)}};
  add_points(json, "save", steps.saves);
  add_points(json, "eval", steps.evals);
  json["formulas"] = formulas_json(steps.formulas);
  return json;
}

Json packing_json(const plan::Plan& plan) {
  Json json = Json::Object{{"sample_packing", plan.config.batch.sample_packing.value_or(false)}};
  if (!plan.steps.packing) return json;
  const plan::Packing& p = *plan.steps.packing;
  const bool sequential = p.sampler == plan::SamplerKind::sequential;
  json["method"] = p.method;
  json["sampler"] = sequential ? "sequential" : "random";
  json["bin_capacity"] = p.bin_capacity;
  json["bins_per_batch"] = p.bins_per_batch;
  json["rows_per_bin"] = p.rows_per_bin;
  json["group_size"] = p.group_size;
  json["replays"] = p.replays;
  json["bins"] = p.bins;
  json["min_bins"] = p.min_bins;
  json["max_bins"] = p.max_bins;
  json["batches"] = p.batches;
  json["data_loader_len"] = p.data_loader_len;
  json["efficiency"] = p.efficiency;
  json["sample_packing_eff_est"] = or_null(p.sample_packing_eff_est);
  json["min_steps"] = p.min_steps;
  json["max_steps"] = p.max_steps;
  return json;
}

Json as_json(const plan::AsVersion& as) {
  return Json::Object{{"version", as.version},
                      {"as_batch_size", or_null(counted(as.batch_size))},
                      {"as_steps", or_null(as.total_num_steps)},
                      {"batch_formula", as.batch_formula},
                      {"as_steps_formula", as.steps_formula},
                      {"right_steps", or_null(as.right_steps)},
                      {"step_ratio", or_null(as.step_ratio)},
                      {"as_epochs", or_null(as.epochs)},
                      {"verdict", as.verdict}};
}

}  // namespace cpplan::report
