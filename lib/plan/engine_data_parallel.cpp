#include "plan/engine_data_parallel.hpp"

#include <fmt/format.h>

#include <optional>

#include "plan/framework_sharding.hpp"

namespace cpplan::plan {
namespace {
using engine::DataParallelSettings;

std::optional<engine::Sharding> parse_sharding(std::string_view name) {
  if (name == "none") return engine::Sharding::none;
  if (name == "optimizer") return engine::Sharding::optimizer;
  if (name == "parameters") return engine::Sharding::parameters;
  return std::nullopt;
}

/// The engine scatters gradients with the optimizer's state: once a step, after they are complete.
engine::Sharding engine_sharding(Sharding sharding) {
  switch (sharding) {
    case Sharding::none:
      return engine::Sharding::none;
    case Sharding::optimizer:
    case Sharding::gradients:
      return engine::Sharding::optimizer;
    case Sharding::parameters:
      return engine::Sharding::parameters;
  }
  return engine::Sharding::none;
}

Refusal unknown_sharding(const config::Setting<std::string>& setting) {
  return {setting.span, fmt::format("optimizer_sharding \"{}\" is not known", *setting),
          "the engine has none, optimizer and parameters", "use optimizer_sharding: none"};
}

Refusal uneven_copies(const Plan& plan, const FrameworkSharding& framework) {
  return {framework.replicate_span,
          fmt::format("{} copies of the sharded state do not divide {} data-parallel ranks",
                      framework.replicate, plan.layout.dims.dp),
          "each copy lies over as many ranks", fmt::format("use {}: 1", framework.replicate_key)};
}

}  // namespace

tl::expected<DataParallelSettings, Refusal> data_parallel_of(const Plan& plan) {
  const FrameworkSharding framework = framework_sharding(plan);
  DataParallelSettings settings{.sharding = engine_sharding(framework.sharding),
                                .reshard_after_forward = !framework.keeps_gathered,
                                .overlap_gradients = framework.overlaps_gradients,
                                .overlap_parameters = framework.overlaps_parameters};
  if (const auto& own = plan.config.run.optimizer_sharding; own.given()) {
    const auto sharding = parse_sharding(*own);
    if (!sharding) return tl::unexpected(unknown_sharding(own));
    settings.sharding = *sharding;
  }
  if (settings.sharding == engine::Sharding::none) return settings;
  if (plan.layout.dims.dp % framework.replicate != 0)
    return tl::unexpected(uneven_copies(plan, framework));
  settings.replicate = static_cast<int>(framework.replicate);
  return settings;
}

}  // namespace cpplan::plan
