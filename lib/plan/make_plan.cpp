#include "plan/make_plan.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "model/resolve.hpp"
#include "model/shrink.hpp"
#include "plan/as_version.hpp"
#include "plan/batch.hpp"
#include "plan/checkpoints.hpp"
#include "plan/degrees.hpp"
#include "plan/dimensions.hpp"
#include "plan/documents.hpp"
#include "plan/engine_pipeline.hpp"
#include "plan/megatron_batch.hpp"
#include "plan/megatron_stages.hpp"
#include "plan/memory.hpp"
#include "plan/sequence.hpp"
#include "plan/stages.hpp"
#include "plan/steps.hpp"
#include "plan/world.hpp"

namespace cpplan::plan {
namespace {

/// axolotl lays data parallelism out inside EP; Megatron's order serves both while EP is 1.
layout::Order order_of(const PlanInputs& inputs) {
  return inputs.order.value_or(layout::megatron_order);
}

/// SP is the default for TP > 1 in axolotl's dialect, and as written in Megatron's.
bool sequence_parallel(const config::TrainingConfig& config, Index tp) {
  const bool fallback = config.dialect == config::Dialect::axolotl;
  return tp > 1 && config.parallel.sequence_parallel.value_or(fallback);
}

/// Whole blocks of TP * CP * PP ranks, as the framework counts; at least 1. A rest is an error that
/// rules/ reports.
Index data_parallel_size(Index world, const Degrees& degrees) {
  return std::max<Index>(1, world / model_parallel_size(degrees).value_or(world));
}

LayoutPlan lay_out(const config::TrainingConfig& config, const PlanInputs& inputs, Index world) {
  const Degrees degrees = requested_degrees(config);
  const Index dp = data_parallel_size(std::max<Index>(1, world), degrees);
  LayoutPlan layout;
  layout.order = order_of(inputs);
  if (const auto dims = layout::make_parallel_dims(degrees.tp, degrees.cp, degrees.pp, dp,
                                                   sequence_parallel(config, degrees.tp)))
    layout.dims = *dims;
  const DataParallel filled = fill_data_parallel(config, layout.dims.dp);
  layout.dp_shard = filled.shard;
  layout.dp_replicate = filled.replicate;
  layout.ep = filled.ep;
  layout.weight_shards = layout.dims.weight_shards();
  layout.weight_replicas = layout.dims.weight_replicas();
  return layout;
}

/// Sixteen rows a chunk: enough to cross every boundary, little enough for a laptop.
Index short_sequence(Index sequence_len, const layout::ParallelDims& dims) {
  const Index multiple = dims.cp * engine::rows_multiple(dims);
  return std::min(sequence_len, std::max<Index>(128, 16 * multiple));
}

/// The same share of a shorter sequence, so that windows still end within it.
Index short_window(Index window, Index sequence_len, Index shorter) {
  const double share = static_cast<double>(window) / static_cast<double>(sequence_len);
  return std::max<Index>(1, static_cast<Index>(share * static_cast<double>(shorter)));
}

/// A shrunk model has other layers than those that the config counts out: its stages are even, and
/// of a list of one type a layer it takes every so-manieth.
void forget_counted_layers(config::TrainingConfig& config, Index chunks, Index layers) {
  auto& m = config.megatron;
  config.parallel.first_stage_layers = {}, config.parallel.last_stage_layers = {};
  m.pipeline_layout = {}, m.account_for_embedding = {}, m.account_for_loss = {};
  if (chunks > 1) config.run.virtual_stages.value = chunks;
  if (m.recompute_num_layers.value_or(0) > 0) m.recompute_num_layers = {};
  if (m.cp_comm_type.value_or({}).size() <= 1) return;
  std::vector<std::string> types;
  for (Index layer = 0; layer < layers; ++layer)
    types.push_back((*m.cp_comm_type)[layer * std::ssize(*m.cp_comm_type) / layers]);
  m.cp_comm_type.value = std::move(types);
}

void shrink_model(Plan& plan, Index shorter) {
  const Index chunks = requested_chunks(plan);
  auto tiny = model::shrink(*plan.model, {plan.layout.dims.tp, plan.layout.dims.pp * chunks});
  if (tiny.sliding_window > 0)
    tiny.sliding_window = short_window(tiny.sliding_window, plan.batch.sequence_len, shorter);
  forget_counted_layers(plan.config, chunks, tiny.num_hidden_layers);
  plan.model = std::move(tiny);
}

void shrink_to_laptop(Plan& plan) {
  auto& batch = plan.batch;
  const Index shorter = short_sequence(batch.sequence_len, plan.layout.dims);
  if (plan.model) shrink_model(plan, shorter);
  batch.sequence_len = shorter;
  batch.tokens_per_step = checked_multiply(batch.batch_size, batch.sequence_len).value_or(0);
}

/// Idle time of a stage over all its time (Narayanan et al., SC'21).
std::optional<double> bubble_fraction(const Plan& plan) {
  const Index stages = plan.layout.dims.pp;
  if (stages <= 1) return std::nullopt;
  const auto chunks = static_cast<double>(plan.megatron ? plan.megatron->virtual_stages.value_or(1)
                                                        : requested_chunks(plan));
  const auto idle = static_cast<double>(stages - 1);
  return idle / (chunks * static_cast<double>(plan.batch.gradient_accumulation_steps) + idle);
}

/// What Megatron's dialect has beside the rest. Wants the batch.
MegatronPlan plan_megatron(const Plan& plan) {
  const config::TrainingConfig& config = plan.config;
  const auto& dims = plan.layout.dims;
  const Index layers = config.model.num_hidden_layers.value_or(0);
  return {megatron_global_batch(config, plan.batch), padded_vocab_size(config, dims.tp),
          virtual_stages(config, layers, dims.pp)};
}

/// A shrunk model has as many layers as its even stages need.
EndStages end_stages(const config::TrainingConfig& config, const PlanInputs& inputs) {
  if (inputs.shrink) return {};
  return {config.parallel.first_stage_layers.value, config.parallel.last_stage_layers.value};
}

/// The model's layers, or what is known of it: stages need no more.
std::optional<std::vector<int>> layers_of_stages(const Plan& plan, const PlanInputs& inputs) {
  const Index stages = plan.layout.dims.pp;
  const Index layers = plan.model ? plan.model->num_hidden_layers
                                  : model::known_dimensions(plan.config).num_hidden_layers;
  if (plan.megatron && !inputs.shrink) return megatron_stage_layers(plan.config, layers, stages);
  return stage_layers(layers, stages, end_stages(plan.config, inputs));
}

}  // namespace

Plan make_plan(const config::TrainingConfig& config, const PlanInputs& inputs,
               const cluster::Environment& environment) {
  Plan plan;
  plan.config = config;
  plan.environment = environment;
  plan.diagnostics = environment.findings;
  plan.world = find_world(config, inputs, environment, plan.diagnostics);
  plan.layout = lay_out(config, inputs, plan.world.size);
  const bool megatron = config.dialect == config::Dialect::megatron;
  plan.batch = megatron ? make_megatron_batch(config, plan.layout.dims.dp)
                        : make_batch(config, plan.layout.dims.dp);
  plan.steps = count_steps(config, inputs, plan.batch, plan.world.size);
  if (megatron) plan.megatron = plan_megatron(plan);
  if (inputs.as) plan.as_version = compute_as(*inputs.as, plan);
  if (inputs.global_batch) plan.global_batch = reach_global_batch(plan.batch, *inputs.global_batch);
  plan.model = model::resolve_model(config);
  plan.hardware = inputs.hardware;
  if (!plan.hardware) plan.hardware = cluster::find_hardware(config.cluster.gpu.value_or(""));
  if (inputs.shrink) shrink_to_laptop(plan);
  plan.layout.stage_layers = layers_of_stages(plan, inputs).value_or(std::vector<int>{});
  plan.layout.bubble_fraction = bubble_fraction(plan);
  plan.framework_layout = framework_layout(config, plan.batch, plan.layout.dims);
  plan.engine_layout = engine_layout(config, plan.batch, plan.layout.dims);
  plan.documents = lay_out_documents(inputs.documents, plan.layout.dims);
  plan.layout.dimensions = dimension_table(plan);
  plan.checkpoints = checkpoints_of(config, inputs, plan.steps);
  estimate_framework_memory(plan);
  return plan;
}

}  // namespace cpplan::plan
