#include "train/sharding_objections.hpp"

#include <fmt/format.h>

#include "plan/deepspeed_config.hpp"
#include "plan/engine_data_parallel.hpp"
#include "plan/framework_sharding.hpp"

namespace cpplan::train {
namespace {
using Kind = Objection::Kind;

constexpr auto see_plan = "memory of the real run is in `cpplan plan`";

Objection scattered_once(const diag::Span& span) {
  return {Kind::replaced, "gradients are scattered with the optimizer's state, once a step",
          "a rank of the engine keeps whole gradients until the last micro-batch has gone backward",
          see_plan, span};
}

Objection gathered_once(const plan::Plan& plan, const diag::Span& span) {
  return {Kind::replaced,
          fmt::format("parameters are gathered once for the {} micro-batches of a step",
                      plan.batch.gradient_accumulation_steps),
          "the engine keeps them whole until the optimizer moves, and FSDP until backward is done",
          "use reshard_after_forward: true to gather them layer by layer", span};
}

Objection unknown_stage(const diag::Span& span) {
  return {Kind::replaced, "the ZeRO stage of deepspeed is not known, and nothing is sharded",
          "neither the name nor the content of its JSON says one",
          "use cpplan.run.optimizer_sharding: optimizer, or a JSON with zero_optimization.stage",
          span};
}

void add_offloading(const plan::Plan& plan, std::vector<Objection>& found) {
  const auto& config = plan.config;
  for (const auto* setting :
       {&config.features.fsdp_offload_params, &config.megatron.optimizer_cpu_offload})
    if (setting->value_or(false))
      found.push_back(
          {Kind::replaced, fmt::format("{} is ignored: nothing is offloaded", setting->key),
           "a rank of the engine keeps its state where it computes", see_plan, setting->span});
  const auto& path = config.features.deepspeed_config;
  const auto read = path.given() ? plan::read_deepspeed(*path) : std::nullopt;
  if (read && (read->offloads_optimizer || read->offloads_parameters))
    found.push_back({Kind::replaced, "DeepSpeed's offloading is ignored",
                     "a rank of the engine keeps its state where it computes", see_plan,
                     path.span});
  if (config.features.deepspeed.value_or(false) && !read)
    found.push_back(unknown_stage(config.features.deepspeed.span));
}

void add_units(const plan::Plan& plan, std::vector<Objection>& found) {
  const auto& policy = plan.config.features.fsdp_auto_wrap_policy;
  if (!policy.given() || *policy == "TRANSFORMER_BASED_WRAP") return;
  found.push_back({Kind::replaced, fmt::format("{}: {} runs layer by layer", policy.key, *policy),
                   "the engine gathers and reduces one transformer layer at a time", see_plan,
                   policy.span});
}

void add_gathers(const plan::Plan& plan, std::vector<Objection>& found) {
  const auto& setting = plan.config.megatron.overlap_param_gather_with_optimizer_step;
  if (!setting.value_or(false)) return;
  found.push_back(
      {Kind::replaced, fmt::format("{} gathers no parameters before the next step", setting.key),
       "the engine gathers a layer's while the layer before it computes", see_plan, setting.span});
}

}  // namespace

std::vector<Objection> sharding_objections(const plan::Plan& plan) {
  std::vector<Objection> found;
  const auto settings = plan::data_parallel_of(plan);
  if (!settings) {
    const plan::Refusal& why = settings.error();
    found.push_back(
        {Kind::refused, "the engine does not shard: " + why.problem, why.why, why.help, why.span});
    return found;
  }
  const auto framework = plan::framework_sharding(plan);
  const bool own = plan.config.run.optimizer_sharding.given();
  const bool sharded = settings->sharding == engine::Sharding::parameters;
  if (framework.sharding == plan::Sharding::gradients && !own)
    found.push_back(scattered_once(framework.span));
  if (sharded && framework.keeps_gathered && plan.batch.gradient_accumulation_steps > 1)
    found.push_back(gathered_once(plan, framework.span));
  add_offloading(plan, found);
  if (sharded) add_units(plan, found);
  if (settings->sharding == engine::Sharding::optimizer && settings->overlap_parameters)
    add_gathers(plan, found);
  return found;
}

}  // namespace cpplan::train
