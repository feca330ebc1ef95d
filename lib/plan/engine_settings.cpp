#include "plan/engine_settings.hpp"

#include <fmt/format.h>

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
  if (config.megatron.cp_comm_type.given()) return *config.megatron.cp_comm_type;
  return {config.run.cp_comm_type.value_or("p2p")};
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

Result<void> check_heads(const Plan& plan, Index exchanging) {
  const Index tp = plan.layout.dims.tp;
  const Index heads = plan.model->num_attention_heads / tp;
  const Index kv_heads = plan.model->num_key_value_heads / tp;
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
  auto types = layer_types(plan);
  if (!types) return tl::unexpected(types.error());
  settings.layer_types = std::move(*types);
  for (const CpCommType type : settings.layer_types) {
    if (type == CpCommType::p2p || type == CpCommType::all_gather) continue;
    if (type == CpCommType::a2a_p2p) {
      const auto inner = inner_size(plan);
      if (!inner) return tl::unexpected(inner.error());
      settings.inner_size = *inner;
    }
    const Index exchanging = type == CpCommType::a2a ? plan.layout.dims.cp : settings.inner_size;
    if (auto fits = check_heads(plan, exchanging); !fits) return tl::unexpected(fits.error());
  }
  return settings;
}

Result<engine::Recompute> recompute_of(const Plan& plan) {
  const auto& own = plan.config.run.recompute;
  const auto& setting = own.given() ? own : plan.config.megatron.recompute_granularity;
  const std::string name = setting.value_or("none");
  if (name == "none") return engine::Recompute::none;
  if (name == "selective") return engine::Recompute::selective;
  if (name == "full") return engine::Recompute::full;
  return failure(fmt::format(
      "the engine does not know the recompute \"{}\" (it has none, selective and full). use none",
      name));
}

}  // namespace cpplan::plan
