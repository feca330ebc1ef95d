#include "report/plan_json.hpp"

#include "diag/render_json.hpp"
#include "report/groups_json.hpp"
#include "report/sequence_json.hpp"

namespace cpplan::report {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

/// A plan writes 0 for a product beyond 64 bits.
std::optional<Index> counted(Index product) {
  return product > 0 ? std::optional(product) : std::nullopt;
}

Json dialect_json(config::Dialect dialect) {
  return dialect == config::Dialect::axolotl ? "axolotl" : "megatron";
}

Json model_json(const model::ModelSpec& model) {
  return Json::Object{{"name", model.name},
                      {"hidden_size", model.hidden_size},
                      {"num_hidden_layers", model.num_hidden_layers},
                      {"num_attention_heads", model.num_attention_heads},
                      {"num_key_value_heads", model.num_key_value_heads},
                      {"head_dim", model.head_dim},
                      {"intermediate_size", model.intermediate_size},
                      {"vocab_size", model.vocab_size},
                      {"max_position_embeddings", model.max_position_embeddings},
                      {"tie_word_embeddings", model.tie_word_embeddings},
                      {"parameters", model::parameter_count(model)}};
}

/// What the file says, as it takes effect: derived and default values filled in.
Json config_json(const plan::Plan& plan) {
  const auto& dims = plan.layout.dims;
  return Json::Object{{"file", plan.config.file},
                      {"dialect", dialect_json(plan.config.dialect)},
                      {"base_model", or_null(plan.config.model.base_model.value)},
                      {"model", plan.model ? model_json(*plan.model) : Json()},
                      {"padded_vocab_size",
                       or_null(plan.megatron ? plan.megatron->padded_vocab_size : std::nullopt)},
                      {"tensor_parallel_size", dims.tp},
                      {"context_parallel_size", dims.cp},
                      {"pipeline_parallel_size", dims.pp},
                      {"data_parallel_size", dims.dp},
                      {"dp_shard_size", plan.layout.dp_shard},
                      {"dp_replicate_size", plan.layout.dp_replicate},
                      {"expert_parallel_size", plan.layout.ep},
                      {"sequence_parallel", dims.sequence_parallel},
                      {"micro_batch_size", plan.batch.micro_batch_size},
                      {"gradient_accumulation_steps", plan.batch.gradient_accumulation_steps},
                      {"sequence_len", plan.batch.sequence_len},
                      {"num_epochs", plan.steps.num_epochs},
                      {"optimizer", or_null(plan.config.optimizer.optimizer.value)},
                      {"learning_rate", plan.steps.learning_rate},
                      {"lr_scheduler", plan.steps.lr_scheduler},
                      {"min_lr_ratio", plan.steps.min_lr_ratio}};
}

Json world_json(const plan::World& world) {
  return Json::Object{{"world_size", world.size},
                      {"world_size_source", world.source},
                      {"nodes", or_null(world.nodes)},
                      {"gpus_per_node", or_null(world.gpus_per_node)}};
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
  if (plan.global_batch) json["global_batch"] = global_batch_json(*plan.global_batch);
  return json;
}

Json learning_rates_json(const std::vector<plan::LearningRatePoint>& points) {
  Json json = Json::array();
  for (const auto& point : points)
    json.push_back(Json::Object{{"at", point.at}, {"step", point.step}, {"value", point.value}});
  return json;
}

Json data_json(const plan::Steps& steps) {
  return Json::Object{{"train_rows", or_null(steps.train_rows)},
                      {"eval_rows", or_null(steps.eval_rows)}};
}

Json steps_json(const plan::Steps& steps) {
  return Json::Object{{"total_num_steps", or_null(steps.total_num_steps)},
                      {"steps_path", steps.path},
                      {"steps_formula", steps.formula},
                      {"trainer_max_steps", or_null(steps.trainer_max_steps)},
                      {"warmup_steps", or_null(steps.warmup_steps)},
                      {"learning_rates", learning_rates_json(steps.learning_rates)}};
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

Json layout_json(const plan::LayoutPlan& layout) {
  Json json =
      Json::Object{{"rank_order", layout::to_string(layout.order)},
                   {"weight_shards", layout.weight_shards},
                   {"weight_replicas", layout.weight_replicas},
                   {"layers_per_stage", layout.stage_layers.empty() ? Json() : layout.stage_layers},
                   {"bubble_fraction", or_null(layout.bubble_fraction)},
                   {"dimensions", dimensions_json(layout.dimensions)}};
  for (auto& [name, groups] : groups_json(layout)) json[name] = std::move(groups);
  return json;
}

Json engine_memory_json(const plan::EngineMemory& memory) {
  return Json::Object{
      {"parameter_bytes", memory.parameters}, {"gradient_bytes", memory.gradients},
      {"optimizer_bytes", memory.optimizer},  {"activation_bytes", memory.activations},
      {"buffer_bytes", memory.buffers},       {"total_bytes", memory.total},
      {"heaviest_rank", memory.heaviest_rank}};
}

Json memory_json(const std::optional<plan::EngineMemory>& memory) {
  return Json::Object{{"engine", memory ? engine_memory_json(*memory) : Json()}};
}

Json communication_json(const std::vector<plan::TrafficRow>& rows) {
  Json engine = Json::array();
  for (const plan::TrafficRow& row : rows)
    engine.push_back(Json::Object{{"group", row.group},
                                  {"collective", row.collective},
                                  {"bytes", row.bytes},
                                  {"messages", row.messages}});
  return Json::Object{{"engine_traffic", std::move(engine)}};
}

}  // namespace

Json plan_json(const plan::Plan& plan, const diag::Diagnostics& findings) {
  const bool packing = plan.config.batch.sample_packing.value_or(false);
  return Json::Object{{"schema", "cpplan/plan/1"},
                      {"summary", diag::summary_json(diag::summarize(findings))},
                      {"config", config_json(plan)},
                      {"world", world_json(plan.world)},
                      {"batch", batch_json(plan)},
                      {"data", data_json(plan.steps)},
                      {"steps", steps_json(plan.steps)},
                      {"packing", Json::Object{{"sample_packing", packing}}},
                      {"sequence", sequence_json(plan)},
                      {"layout", layout_json(plan.layout)},
                      {"memory", memory_json(plan.engine_memory)},
                      {"communication", communication_json(plan.engine_traffic)},
                      {"time", Json::object()},
                      {"diagnostics", diag::diagnostics_json(findings)}};
}

}  // namespace cpplan::report
