#include "plan/engine_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace cpplan::plan {
namespace {
using engine::CpCommType;

std::optional<CpCommType> parse_type(std::string_view name) {
  if (name == "p2p") return CpCommType::p2p;
  if (name == "all_gather" || name == "allgather") return CpCommType::all_gather;
  if (name == "a2a") return CpCommType::a2a;
  if (name == "a2a+p2p") return CpCommType::a2a_p2p;
  return std::nullopt;
}

std::vector<std::string> type_names(const config::TrainingConfig& config) {
  if (config.run.cp_comm_type.given()) return {*config.run.cp_comm_type};
  return config.megatron.cp_comm_type.value_or({"p2p"});
}

Result<std::vector<CpCommType>> layer_types(const Plan& plan) {
  std::vector<CpCommType> types;
  for (const std::string& name : type_names(plan.config)) {
    const auto type = parse_type(name);
    if (!type)
      return failure(
          fmt::format("the engine does not know the cp_comm_type \"{}\" (it has p2p, "
                      "all_gather, a2a and a2a+p2p). use p2p",
                      name));
    types.push_back(*type);
  }
  const Index layers = plan.model->num_hidden_layers, given = std::ssize(types);
  if (given != 1 && given != layers)
    return failure(
        fmt::format("cp_comm_type lists {} types for {} layers (one holds for all, or "
                    "each layer has its own). write one",
                    given, layers));
  return types;
}

Result<int> inner_size(const Plan& plan) {
  const auto& levels = plan.config.megatron.hierarchical_context_parallel_sizes;
  const Index cp = plan.layout.dims.cp;
  const bool two = levels.given() && levels.value->size() == 2;
  if (two && levels.value->front() >= 1 && cp % levels.value->front() == 0)
    return static_cast<int>(levels.value->front());
  return failure(fmt::format(
      "cp_comm_type a2a+p2p does not say which ranks exchange heads (its two levels "
      "have the product {}). give hierarchical_context_parallel_sizes, or use a2a or p2p",
      cp));
}

/// Every C-th token of a rank and every C-th of its neighbour are no stripe of fewer ranks.
Result<void> check_stripes(const Plan& plan, layout::Split split, Index inner) {
  if (split != layout::Split::striped || inner == 1 || inner == plan.layout.dims.cp) return {};
  return failure(fmt::format(
      "sequence_split striped does not run with cp_comm_type a2a+p2p (the stripes of {} "
      "neighbours do not join to one of fewer ranks). use sequence_split: head_tail, or "
      "cp_comm_type: a2a",
      inner));
}

Result<void> check_heads(const Plan& plan, Index exchanging) {
  const Index tp = plan.layout.dims.tp;
  const Index heads = plan.model->num_attention_heads / tp;
  const Index kv_heads = std::max<Index>(1, plan.model->num_key_value_heads / tp);
  const bool shared = kv_heads % exchanging == 0 || exchanging % kv_heads == 0;
  if (heads % exchanging == 0 && shared) return {};
  return failure(
      fmt::format("{} attention heads and {} key-value heads of a TP rank cannot be exchanged "
                  "among {} CP ranks "
                  "(each gets as many). use cp_comm_type: p2p",
                  heads, kv_heads, exchanging));
}

}  // namespace

Result<engine::ContextParallelSettings> context_parallel_of(const Plan& plan) {
  engine::ContextParallelSettings settings;
  settings.split = split_of(plan.config.run);
  if (plan.config.run.cp_gradient_dtype.value_or("fp32") == "bf16")
    settings.gradients = engine::GradientTransport::values;
  auto types = layer_types(plan);
  if (!types) return tl::unexpected(types.error());
  settings.layer_types = std::move(*types);
  for (const CpCommType type : settings.layer_types) {
    if (type == CpCommType::p2p || type == CpCommType::all_gather) continue;
    if (type == CpCommType::a2a_p2p) {
      const auto inner = inner_size(plan);
      if (!inner) return tl::unexpected(inner.error());
      settings.inner_size = *inner;
      if (auto joins = check_stripes(plan, settings.split, *inner); !joins)
        return tl::unexpected(joins.error());
    }
    const Index exchanging = type == CpCommType::a2a ? plan.layout.dims.cp : settings.inner_size;
    if (auto fits = check_heads(plan, exchanging); !fits) return tl::unexpected(fits.error());
  }
  return settings;
}

namespace {

/// Megatron's --recompute-method block keeps the layers of a stage after the first n; all or none
/// is what the engine has.
Result<engine::Recompute> whole_layers(const Plan& plan) {
  const auto& m = plan.config.megatron;
  const auto& n = m.recompute_num_layers;
  if (m.recompute_method.value_or("uniform") != "block" || !n.given())
    return engine::Recompute::full;
  const auto& stages = plan.layout.stage_layers;
  if (*n == 0) return engine::Recompute::none;
  if (stages.empty() || *n >= *std::ranges::max_element(stages)) return engine::Recompute::full;
  return failure(
      fmt::format("the engine does not recompute {} layers of a stage (it recomputes all or none). "
                  "use {}: {}, or cpplan.run.recompute: none",
                  *n, n.key, *std::ranges::max_element(stages)));
}

/// axolotl's gradient_checkpointing, "false" where it is off; "offload" and its like recompute,
/// too.
bool checkpoints(const config::FeatureSettings& features) {
  const std::string name = features.gradient_checkpointing.value_or("false");
  return !name.empty() && name != "false";
}

}  // namespace

Result<engine::Recompute> recompute_of(const Plan& plan) {
  const auto& own = plan.config.run.recompute;
  const auto& granularity = plan.config.megatron.recompute_granularity;
  if (!own.given() && granularity.value_or("") == "full") return whole_layers(plan);
  const char* fallback = checkpoints(plan.config.features) ? "full" : "none";
  const std::string name = own.given() ? *own : granularity.value_or(fallback);
  if (name == "none") return engine::Recompute::none;
  if (name == "selective") return engine::Recompute::selective;
  if (name == "full") return engine::Recompute::full;
  return failure(fmt::format(
      "the engine does not know the recompute \"{}\" (it has none, selective and full). use none",
      name));
}

namespace {

/// axolotl's switch: true, full and auto are on.
bool is_switched_on(const config::Setting<std::string>& setting) {
  const std::string name = setting.value_or("false");
  return name == "true" || name == "auto" || name == "full";
}

bool asks_for_bf16(const config::TrainingConfig& config) {
  const auto& features = config.features;
  return is_switched_on(features.bf16) || is_switched_on(features.bfloat16) ||
         config.megatron.bf16.value_or(false);
}

}  // namespace

kernels::DType dtype_of(const config::TrainingConfig& config) {
  const char* fallback = asks_for_bf16(config) ? "bf16" : "fp32";
  const std::string name = config.run.dtype.value_or(fallback);
  if (name == "bf16" || name == "bfloat16") return kernels::DType::bf16;
  if (name == "fp64" || name == "float64") return kernels::DType::f64;
  return kernels::DType::f32;
}

std::string_view name_of(kernels::DType dtype) {
  switch (dtype) {
    case kernels::DType::bf16:
      return "bf16";
    case kernels::DType::f32:
      return "fp32";
    case kernels::DType::f64:
      return "fp64";
    case kernels::DType::i32:
      break;
  }
  return "";
}

engine::WeightGradients weight_gradients_of(const config::TrainingConfig& config) {
  return config.dialect == config::Dialect::megatron ? engine::WeightGradients::separate
                                                     : engine::WeightGradients::in_place;
}

Index attention_window_of(const Plan& plan) {
  const Index window = plan.model ? plan.model->sliding_window : 0;
  return window > 0 && window < plan.batch.sequence_len ? window : 0;
}

layout::Split split_of(const config::RunSettings& run) {
  const std::string name = run.sequence_split.value_or("head_tail");
  if (name == "contiguous") return layout::Split::contiguous;
  if (name == "striped") return layout::Split::striped;
  return layout::Split::head_tail;
}

std::string_view name_of(layout::Split split) {
  switch (split) {
    case layout::Split::head_tail:
      return "head_tail";
    case layout::Split::contiguous:
      return "contiguous";
    case layout::Split::striped:
      return "striped";
  }
  return "";
}

}  // namespace cpplan::plan
