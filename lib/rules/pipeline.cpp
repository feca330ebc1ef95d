// Layers and micro-batches against pipeline stages.
#include <fmt/format.h>

#include "base/checked.hpp"
#include "model/resolve.hpp"
#include "plan/degrees.hpp"
#include "plan/stages.hpp"
#include "rules/areas.hpp"
#include "rules/fitting.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using diag::finding;
using plan::Plan;

constexpr const char* first_key = "num_layers_in_first_pipeline_stage";
constexpr const char* last_key = "num_layers_in_last_pipeline_stage";

std::string ends_text(const plan::EndStages& ends) {
  return fmt::format("{}: {} and {}: {}", first_key, *ends.first, last_key, *ends.last);
}

/// Why the layers do not fit: "30 layers do not divide over 4 stages", "23 middle layers over 2
/// ...".
std::string misfit(Index layers, Index stages, const plan::EndStages& ends) {
  const Index given = Index{ends.first.has_value()} + Index{ends.last.has_value()};
  if (given == 0)
    return fmt::format("{} layers do not divide over {} pipeline stages", layers, stages);
  const Index left = layers - ends.first.value_or(0) - ends.last.value_or(0);
  if (left < 0 || stages < given)
    return fmt::format("the end stages take {} layers of {} over {} stages", layers - left, layers,
                       stages);
  return fmt::format(
      "{} layers with {} in the end stages leave {} middle layers, which do not "
      "divide over {} middle stages",
      layers, layers - left, left, stages - given);
}

void check_layers(const Plan& plan, Index stages, Diagnostics& findings) {
  if (has_own_stages(plan)) return;
  const auto& p = plan.config.parallel;
  const auto& model_layers = plan.config.model.num_hidden_layers;
  const Index layers = model::known_dimensions(plan.config).num_hidden_layers;
  const plan::EndStages ends{p.first_stage_layers.value, p.last_stage_layers.value};
  const bool pipelined = stages > 1 || ends.first || ends.last;
  if (layers < 1 || !pipelined || plan::stage_layers(layers, stages, ends)) return;
  const auto& blamed = p.first_stage_layers.given()  ? p.first_stage_layers
                       : p.last_stage_layers.given() ? p.last_stage_layers
                                                     : p.pipeline_parallel_size;
  diag::Details details;
  details.why = "all stages but the first and the last have the same number of layers, at least 1";
  if (const auto proposal = plan::propose_end_stages(layers, stages))
    details.help.push_back("use " + ends_text(*proposal));
  const auto near = nearest_pp(plan, stages);
  const std::string key = spelled(plan, p.pipeline_parallel_size, "pipeline_model_parallel_size",
                                  "pipeline_parallel_size");
  if (!near.empty()) details.help.push_back(fmt::format("or {}", choices(key, near)));
  if (details.help.empty())
    details.help = {ends.first || ends.last ? fmt::format("remove {} and {}", first_key, last_key)
                                            : fmt::format("use {}: 1", key)};
  if (stages == 1)
    details.help = {fmt::format("remove {} and {}: there is one stage", first_key, last_key)};
  relate(details.related, model_layers);
  if (&blamed != &p.pipeline_parallel_size) relate(details.related, p.pipeline_parallel_size);
  findings.push_back(finding("CP312", blamed.span, misfit(layers, stages, ends), details));
}

/// The least that fills the pipeline, in the setting that the dialect has for it.
std::string more_micro_batches(const Plan& plan, Index stages) {
  if (!is_megatron(plan))
    return fmt::format(
        "use gradient_accumulation_steps: {} or more; {} bring the idle share below 20 %", stages,
        4 * stages);
  const auto rows =
      checked_product(stages, plan.batch.micro_batch_size, plan.layout.dims.dp).value_or(stages);
  return fmt::format("use {}: {} or a multiple of it",
                     spelled(plan, plan.config.megatron.global_batch_size, "global_batch_size"),
                     rows);
}

void check_bubble(const Plan& plan, Index stages, Diagnostics& findings) {
  const auto number = micro_batches(plan);
  if (!number || stages <= 1 || *number >= stages) return;
  const Index micro_batches = *number;
  const auto& p = plan.config.parallel.pipeline_parallel_size;
  const auto& accumulation = is_megatron(plan) ? plan.config.megatron.global_batch_size
                                               : plan.config.batch.gradient_accumulation_steps;
  const double idle =
      static_cast<double>(stages - 1) / static_cast<double>(micro_batches + stages - 1);
  diag::Details details;
  details.why = fmt::format("(PP-1)/(M+PP-1) = {}/{} of the time of every stage is idle",
                            stages - 1, micro_batches + stages - 1);
  details.help = {more_micro_batches(plan, stages)};
  relate(details.related, p);
  auto found =
      finding("CP313", place_of(accumulation.span, p.span),
              fmt::format("{} micro-batch{} for {} pipeline stages: {:.1f} % of the "
                          "time is bubble",
                          micro_batches, micro_batches == 1 ? "" : "es", stages, 100 * idle),
              details);
  // Megatron's default of one micro-batch a rank is nobody's choice.
  if (is_megatron(plan) && !accumulation.given()) found.severity = diag::Severity::note;
  findings.push_back(std::move(found));
}

}  // namespace

void check_pipeline(const Plan& plan, Diagnostics& findings) {
  const Index stages = plan::requested_degrees(plan.config).pp;
  check_layers(plan, stages, findings);
  check_bubble(plan, stages, findings);
}

}  // namespace cpplan::rules
