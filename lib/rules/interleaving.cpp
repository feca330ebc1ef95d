// Megatron's pipeline beyond equal stages: virtual stages, explicit layouts, and what counts as a
// layer.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "model/resolve.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using config::Setting;
using diag::Diagnostics;
using plan::Plan;

/// The settings that ask for interleaving, of which one may stand.
std::vector<const Setting<Index>*> interleaving_settings(const config::MegatronSettings& m) {
  std::vector<const Setting<Index>*> given;
  for (const auto* setting :
       {&m.layers_per_virtual_stage, &m.virtual_stages, &m.virtual_pipeline_size})
    if (setting->given()) given.push_back(setting);
  return given;
}

void check_one_way(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto given = interleaving_settings(m);
  for (std::size_t i = 1; i < given.size(); ++i)
    report("CP115", *given[i],
           fmt::format("{} and {} exclude each other", given[0]->key, given[i]->key))
        .why("each says the number of virtual stages")
        .help(fmt::format("keep one of them: remove {}", given[i]->key))
        .see(*given[0])
        .to(findings);
  if (m.pipeline_layout.given() && !given.empty())
    report("CP115", m.pipeline_layout,
           fmt::format("{} and {} exclude each other", given[0]->key, m.pipeline_layout.key))
        .why("the layout already says which layers stand on which stage")
        .help(fmt::format("remove {}", given[0]->key))
        .see(*given[0])
        .to(findings);
}

bool has_uneven_ends(const config::ParallelSettings& p) {
  return p.first_stage_layers.given() || p.last_stage_layers.given();
}

/// Layers as Megatron counts them over the stages: embedding and loss may count as one each.
Index counted_layers(const Plan& plan, Index layers) {
  const auto& m = plan.config.megatron;
  return layers + Index{m.account_for_embedding.value_or(false)} +
         Index{m.account_for_loss.value_or(false)};
}

/// Virtual stages of a pipeline rank; 1 without interleaving, none where the settings do not give a
/// whole number (another rule says so).
std::optional<Index> virtual_stages(const Plan& plan, Index stages, Index layers) {
  const auto& m = plan.config.megatron;
  for (const auto* setting : {&m.virtual_stages, &m.virtual_pipeline_size})
    if (setting->given()) return **setting >= 1 ? setting->value : std::nullopt;
  const auto& each = m.layers_per_virtual_stage;
  if (!each.given()) return 1;
  if (*each < 1 || layers < 1 || layers % stages != 0) return std::nullopt;
  const Index of_stage = layers / stages;
  return of_stage % *each == 0 ? std::optional(of_stage / *each) : std::nullopt;
}

/// Layers of a stage divide over its virtual stages.
void check_virtual_layers(const Plan& plan, Index stages, Index layers, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& each = m.layers_per_virtual_stage;
  const auto& number = m.virtual_stages.given() ? m.virtual_stages : m.virtual_pipeline_size;
  if (layers < 1 || layers % stages != 0 || has_uneven_ends(plan.config.parallel)) return;
  const Index of_stage = layers / stages;
  const auto& blamed = each.given() ? each : number;
  if (!blamed.given() || (*blamed >= 1 && of_stage % *blamed == 0)) return;
  report(
      "CP351", blamed,
      fmt::format("the {} layers of a stage do not divide by {} {}", of_stage, blamed.key, *blamed))
      .why("every virtual stage has the same number of layers")
      .help(fmt::format("use {}", choices(blamed.key, nearest_divisors(of_stage, *blamed))))
      .see(plan.config.model.num_hidden_layers)
      .see(plan.config.parallel.pipeline_parallel_size)
      .to(findings);
}

/// arguments.py: two stages interleave only where sends overlap; the YAML path asks for three.
void check_enough_stages(const Plan& plan, Index stages, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const bool overlaps = m.overlap_p2p.value_or(true) && m.form != config::MegatronForm::nested;
  const Index least = overlaps ? 2 : 3;
  if (stages >= least) return;
  const auto given = interleaving_settings(m);
  const diag::Span place = given.empty() ? m.pipeline_layout.span : given[0]->span;
  const std::string& key = given.empty() ? m.pipeline_layout.key : given[0]->key;
  Report("CP350", place,
         fmt::format("{} interleaves {} pipeline stage{}, of which it takes {}", key, stages,
                     stages == 1 ? "" : "s", least))
      .why(least == 3 ? "without overlapped sends two stages would wait for each other"
                      : "virtual stages alternate between pipeline ranks")
      .help(fmt::format("remove {}, or use {}: {}", key,
                        spelled(plan, plan.config.parallel.pipeline_parallel_size,
                                "pipeline_model_parallel_size"),
                        2 * (least - 1)))
      .see(plan.config.parallel.pipeline_parallel_size)
      .to(findings);
}

/// core/pipeline_parallel/schedules.py, at run time: PP <= group <= M, and M comes out even.
void check_micro_batches(const Plan& plan, Index stages, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& group_setting = m.microbatch_group_size;
  const Index group = group_setting.value_or(stages);
  const auto number = micro_batches(plan);
  if (!number) return;
  const bool groups_fit = stages <= group && group <= *number;
  const bool comes_out = group >= 1 && (*number % group == 0 || *number % group >= stages);
  if (groups_fit && comes_out) return;
  const auto& blamed =
      group_setting.given() && group < stages ? group_setting : m.global_batch_size;
  const auto unit =
      checked_product(std::max(group, stages), plan.batch.micro_batch_size, plan.layout.dims.dp);
  const std::string batch_key = spelled(plan, m.global_batch_size, "global_batch_size");
  Report("CP353", place_of(blamed.span, interleaving_settings(m)[0]->span),
         fmt::format("{} micro-batches in groups of {} over {} interleaved stages", *number, group,
                     stages))
      .why("a stage takes PP or more micro-batches in a row, and the last group is whole or has PP")
      .help(group < stages ? fmt::format("use {}: {}", group_setting.key, stages)
            : unit         ? fmt::format(
                                 "use {}",
                                 choices(batch_key,
                                         nearest_multiples(*unit, m.global_batch_size.value_or(*unit - 1))))
                   : "")
      .see(plan.config.parallel.pipeline_parallel_size)
      .to(findings);
}

void check_interleaved(const Plan& plan, Index stages, Index layers, Diagnostics& findings) {
  if (interleaving_settings(plan.config.megatron).empty()) return;
  check_virtual_layers(plan, stages, layers, findings);
  const auto number = virtual_stages(plan, stages, layers);
  if (!number || *number <= 1) return;  // one virtual stage is no interleaving
  check_enough_stages(plan, stages, findings);
  if (stages > 1) check_micro_batches(plan, stages, findings);
}

/// Uneven ends leave no even division from which the virtual stages could follow.
void check_uneven_ends(const Plan& plan, Diagnostics& findings) {
  const auto& p = plan.config.parallel;
  const auto& m = plan.config.megatron;
  if (!has_uneven_ends(p)) return;
  const auto& end = p.first_stage_layers.given() ? p.first_stage_layers : p.last_stage_layers;
  if (m.layers_per_virtual_stage.given())
    report("CP352", m.layers_per_virtual_stage,
           fmt::format("{} does not go with {}", m.layers_per_virtual_stage.key, end.key))
        .why("with uneven ends the stages have no common number of layers to divide")
        .help(fmt::format("use {}: 2 in its place",
                          spelled_by_dialect(plan, "num_virtual_stages_per_pipeline_rank")))
        .see(end)
        .to(findings);
  for (const auto* counts : {&m.account_for_embedding, &m.account_for_loss})
    if (counts->value_or(false))
      report("CP352", *counts, fmt::format("{} does not go with {}", counts->key, end.key))
          .why("the ends are given as they are, so nothing is left to be counted in")
          .help(fmt::format("remove {}", counts->key))
          .see(end)
          .to(findings);
  if (m.virtual_stages.value_or(1) > 1)
    for (const auto* setting : {&p.first_stage_layers, &p.last_stage_layers})
      if (setting->given() && **setting >= 1 && **setting % *m.virtual_stages != 0)
        report("CP351", *setting,
               fmt::format("{} {} do not divide over {} {}", setting->key, **setting,
                           m.virtual_stages.key, *m.virtual_stages))
            .why("every virtual stage of a rank has the same number of layers")
            .help(fmt::format(
                "use {}", choices(setting->key, nearest_multiples(*m.virtual_stages, **setting))))
            .see(m.virtual_stages)
            .to(findings);
}

/// Embedding and loss count as a layer each: the sum divides over the stages.
void check_counted_layers(const Plan& plan, Index stages, Index layers, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const Index counted = counted_layers(plan, layers);
  if (layers < 1 || counted == layers || counted % stages == 0) return;
  const auto& blamed =
      m.account_for_embedding.value_or(false) ? m.account_for_embedding : m.account_for_loss;
  report(
      "CP312", blamed,
      fmt::format("{} layers and {} for embedding and loss do not divide over {} pipeline stages",
                  layers, counted - layers, stages))
      .why("they count as layers of the first and the last stage")
      .help(fmt::format("use {}",
                        choices(spelled(plan, plan.config.model.num_hidden_layers, "num_layers"),
                                {round_up(counted, stages) - (counted - layers)})))
      .see(plan.config.parallel.pipeline_parallel_size)
      .to(findings);
}

void check_pipeline_only(const Plan& plan, Index stages, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  if (m.defer_embedding_wgrad_compute.value_or(false) && stages == 1)
    report("CP354", m.defer_embedding_wgrad_compute,
           fmt::format("{} needs pipeline stages", m.defer_embedding_wgrad_compute.key))
        .why("the gradient of the embedding is computed in the bubble that they leave")
        .help(fmt::format("remove {}", m.defer_embedding_wgrad_compute.key))
        .to(findings);
  if (m.cpu_offloading.value_or(false) && stages > 1)
    report("CP354", m.cpu_offloading,
           fmt::format("{} does not go with {} pipeline stages", m.cpu_offloading.key, stages))
        .why("Megatron moves the activations of one stage alone")
        .help(fmt::format("remove {}, or use {}: 1", m.cpu_offloading.key,
                          plan.config.parallel.pipeline_parallel_size.key))
        .see(plan.config.parallel.pipeline_parallel_size)
        .to(findings);
}

}  // namespace

bool has_own_stages(const Plan& plan) {
  const auto& m = plan.config.megatron;
  return m.pipeline_layout.given() || m.hybrid_pattern.given() ||
         m.account_for_embedding.value_or(false) || m.account_for_loss.value_or(false);
}

void check_interleaving(const Plan& plan, Diagnostics& findings) {
  if (!is_megatron(plan)) return;
  const Index stages = plan::requested_degrees(plan.config).pp;
  const Index layers = model::known_dimensions(plan.config).num_hidden_layers;
  check_one_way(plan, findings);
  check_uneven_ends(plan, findings);
  check_counted_layers(plan, stages, layers, findings);
  check_pipeline_only(plan, stages, findings);
  check_interleaved(plan, stages, counted_layers(plan, layers), findings);
}

}  // namespace cpplan::rules
