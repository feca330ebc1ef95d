#include "plan/engine_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/schedule.hpp"
#include "plan/megatron_stages.hpp"

namespace cpplan::plan {
namespace {
using config::Setting;

constexpr Index least_interleaved = 2;  // chunks of a schedule that is asked for without a number

/// Of Megatron's settings that ask for virtual stages the one that is given.
const Setting<Index>& virtual_stage_setting(const config::MegatronSettings& m) {
  for (const auto* setting : {&m.layers_per_virtual_stage, &m.virtual_stages})
    if (setting->given()) return *setting;
  return m.virtual_pipeline_size;
}

Index megatron_chunks(const Plan& plan) {
  if (!plan.megatron) return 1;
  const auto& m = plan.config.megatron;
  const Index chunks = plan.megatron->virtual_stages.value_or(1);
  return chunks == 1 ? m.virtual_pipeline_size.value_or(1) : chunks;
}

/// Where the number of chunks comes from.
diag::Span place_of(const Plan& plan) {
  const auto& run = plan.config.run;
  if (run.virtual_stages.given()) return run.virtual_stages.span;
  if (run.schedule.given()) return run.schedule.span;
  return virtual_stage_setting(plan.config.megatron).span;
}

std::optional<std::vector<int>> layers_of_chunks(const Plan& plan, Index chunks) {
  const auto& stages = plan.layout.stage_layers;
  if (plan.megatron && plan.model)
    return virtual_stage_layers(plan.config, plan.model->num_hidden_layers,
                                static_cast<Index>(stages.size()), chunks);
  return divided(stages, chunks);
}

Refusal no_stages(const Plan& plan, Index chunks) {
  return {place_of(plan), fmt::format("{} model chunks of one pipeline stage", chunks),
          "an interleaved schedule alternates between the stages of a pipeline",
          "use cpplan.run.schedule: 1f1b, or a pipeline of 2 stages or more"};
}

Refusal uneven_chunks(const Plan& plan, Index chunks) {
  const auto& stages = plan.layout.stage_layers;
  Index fitting = chunks;
  while (fitting > 1 && !layers_of_chunks(plan, fitting)) --fitting;
  return {place_of(plan),
          fmt::format("the stages of {} layers do not divide into {} model chunks",
                      fmt::join(stages, " "), chunks),
          "every chunk of a stage has the same number of layers",
          fitting > 1 ? fmt::format("use cpplan.run.virtual_stages: {}", fitting)
                      : "use cpplan.run.schedule: 1f1b"};
}

Refusal partial_group(const Plan& plan) {
  const Index stages = plan.layout.dims.pp;
  const Index number = plan.batch.gradient_accumulation_steps;
  const bool megatron = plan.config.dialect == config::Dialect::megatron;
  const Index samples = plan.batch.micro_batch_size * plan.layout.dims.dp;
  const Index unit = megatron ? samples : 1;
  return {
      place_of(plan),
      fmt::format("{} micro-batches do not fill groups of {} interleaved stages", number, stages),
      "in a last group that is not whole stages would wait for each other",
      fmt::format("use {}: {}, or cpplan.run.schedule: 1f1b",
                  megatron ? "global_batch_size" : "gradient_accumulation_steps",
                  round_up(number, stages) * unit)};
}

Refusal other_group(const Plan& plan) {
  const auto& group = plan.config.megatron.microbatch_group_size;
  return {group.span, fmt::format("groups of {} micro-batches", *group),
          fmt::format("the engine passes as many as there are stages, {}", plan.layout.dims.pp),
          fmt::format("use {}: {}", group.key, plan.layout.dims.pp)};
}

}  // namespace

std::string Refusal::message() const {
  return fmt::format("{} ({}). {}", problem, why, help);
}

Index requested_chunks(const Plan& plan) {
  const auto& run = plan.config.run;
  const std::string schedule = run.schedule.value_or("");
  if (schedule == "1f1b") return 1;
  if (run.virtual_stages.given()) return std::max<Index>(1, *run.virtual_stages);
  const Index chunks = std::max<Index>(1, megatron_chunks(plan));
  return schedule == "interleaved" ? std::max(chunks, least_interleaved) : chunks;
}

tl::expected<PipelineSettings, Refusal> pipeline_of(const Plan& plan) {
  const Index chunks = requested_chunks(plan), stages = plan.layout.dims.pp;
  if (chunks == 1) return PipelineSettings{1, plan.layout.stage_layers};
  if (stages == 1) return tl::unexpected(no_stages(plan, chunks));
  const auto& group = plan.config.megatron.microbatch_group_size;
  if (group.given() && *group != stages) return tl::unexpected(other_group(plan));
  const auto number = static_cast<int>(plan.batch.gradient_accumulation_steps);
  if (!engine::can_interleave(plan.layout.dims.pp, number))
    return tl::unexpected(partial_group(plan));
  const auto layers = layers_of_chunks(plan, chunks);
  if (!layers) return tl::unexpected(uneven_chunks(plan, chunks));
  return PipelineSettings{static_cast<int>(chunks), *layers};
}

}  // namespace cpplan::plan
