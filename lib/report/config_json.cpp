#include "report/config_json.hpp"

#include <fmt/format.h>

#include "report/json_values.hpp"

namespace cpplan::report {
namespace {

using config::Setting;

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

template <class T>
std::string from(const Setting<T>& setting) {
  if (!setting.given()) return "default";
  if (!setting.key_span.placed()) return setting.origin().empty() ? "default" : setting.origin();
  return fmt::format("{}:{}", setting.origin(), setting.key_span.line);
}

/// Of several spellings the one that is given.
template <class T>
const Setting<T>& given_of(const Setting<T>& first, const Setting<T>& second) {
  return first.given() ? first : second;
}

/// {offload_params, ...} of what the file gives.
Json fsdp_json(const config::FeatureSettings& features) {
  Json json = Json::object();
  if (features.fsdp_offload_params.given()) json["offload_params"] = *features.fsdp_offload_params;
  if (features.fsdp_reshard_after_forward.given())
    json["reshard_after_forward"] = *features.fsdp_reshard_after_forward;
  return json;
}

void add_features(const config::TrainingConfig& config, Json& json) {
  const auto& f = config.features;
  if (f.fsdp.value_or(false)) json["fsdp_config"] = fsdp_json(f);
  if (f.fsdp_version.given()) json["fsdp_version"] = *f.fsdp_version;
}

Json origins_json(const plan::Plan& plan) {
  Json json = Json::array();
  for (const Origin& origin : origins(plan))
    json.push_back(
        Json::Object{{"name", origin.name}, {"value", origin.value}, {"from", origin.from}});
  return json;
}

void add_parallel_origins(const plan::Plan& plan, std::vector<Origin>& rows) {
  const auto& p = plan.config.parallel;
  const auto& dims = plan.layout.dims;
  const auto add = [&](const char* name, Index value, const Setting<Index>& setting) {
    rows.push_back({name, std::to_string(value), from(setting)});
  };
  add("tensor_parallel_size", dims.tp, p.tensor_parallel_size);
  add("context_parallel_size", dims.cp,
      given_of(p.context_parallel_size, p.sequence_parallel_degree));
  add("pipeline_parallel_size", dims.pp, p.pipeline_parallel_size);
  add("dp_shard_size", plan.layout.dp_shard, p.dp_shard_size);
  add("dp_replicate_size", plan.layout.dp_replicate, p.dp_replicate_size);
  add("expert_parallel_size", plan.layout.ep, p.expert_parallel_size);
}

void add_batch_origins(const plan::Plan& plan, std::vector<Origin>& rows) {
  const auto& b = plan.config.batch;
  const auto add = [&](const char* name, auto value, const auto& setting) {
    rows.push_back({name, fmt::format("{}", value), from(setting)});
  };
  add("micro_batch_size", plan.batch.micro_batch_size, b.micro_batch_size);
  add("gradient_accumulation_steps", plan.batch.gradient_accumulation_steps,
      b.gradient_accumulation_steps);
  add("sequence_len", plan.batch.sequence_len, b.sequence_len);
  add("num_epochs", plan.steps.num_epochs, b.num_epochs);
  const auto& o = plan.config.optimizer;
  add("learning_rate", plan.steps.learning_rate, o.learning_rate);
  add("lr_scheduler", plan.steps.lr_scheduler, o.lr_scheduler);
}

}  // namespace

std::vector<Origin> origins(const plan::Plan& plan) {
  std::vector<Origin> rows;
  add_parallel_origins(plan, rows);
  add_batch_origins(plan, rows);
  return rows;
}

Json config_json(const plan::Plan& plan) {
  const auto& dims = plan.layout.dims;
  Json json = Json::Object{{"file", plan.config.file},
                           {"dialect", dialect_json(plan.config.dialect)},
                           {"base_model", or_null(plan.config.model.base_model.value)},
                           {"model", plan.model ? model_json(*plan.model) : Json()},
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
                           {"eval_batch_size", plan.batch.eval_batch_size},
                           {"sequence_len", plan.batch.sequence_len},
                           {"num_epochs", plan.steps.num_epochs},
                           {"optimizer", or_null(plan.config.optimizer.optimizer.value)},
                           {"learning_rate", plan.steps.learning_rate},
                           {"lr_scheduler", plan.steps.lr_scheduler},
                           {"min_lr_ratio", plan.steps.min_lr_ratio}};
  add_features(plan.config, json);
  json["origins"] = origins_json(plan);
  return json;
}

}  // namespace cpplan::report
