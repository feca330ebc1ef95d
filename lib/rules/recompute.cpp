// Activations that are computed again, moved away or kept on one rank alone.
#include <fmt/format.h>

#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using plan::Plan;

bool is_on(const config::Setting<std::string>& setting) {
  return setting.given() && *setting != "false" && !(*setting).empty();
}

/// axolotl moves away what recomputation keeps: one input a layer.
void check_offloading(const Plan& plan, Diagnostics& findings) {
  const auto& offloading = plan.config.features.activation_offloading;
  const auto& checkpointing = plan.config.features.gradient_checkpointing;
  if (!is_on(offloading) || is_on(checkpointing)) return;
  report("CP382", offloading, fmt::format("{} needs gradient_checkpointing", offloading.key))
      .why("what is moved away are the activations that checkpointing keeps")
      .help("add gradient_checkpointing: true")
      .see(checkpointing)
      .to(findings);
}

/// core/transformer/transformer_config.py: granularity, method and number of layers.
void check_full(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& granularity = m.recompute_granularity;
  if (granularity.value_or("") != "full") return;
  const auto need = [&](const char* key, const char* value) {
    report("CP380", granularity,
           fmt::format("{} full needs {}", granularity.key, spelled_by_dialect(plan, key)))
        .why("Megatron must be told which layers are computed again")
        .help(fmt::format("add {}: {}", spelled_by_dialect(plan, key), value))
        .to(findings);
  };
  if (!m.recompute_method.given()) need("recompute_method", "uniform");
  if (m.recompute_method.given() && !m.recompute_num_layers.given())
    need("recompute_num_layers", "1");
}

void check_selective(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& granularity = m.recompute_granularity;
  if (granularity.value_or("") != "selective") return;
  if (m.recompute_method.given())
    report("CP380", m.recompute_method,
           fmt::format("{} does not go with {} selective", m.recompute_method.key, granularity.key))
        .why(
            "it chooses among whole layers, and selective recomputation takes parts of every layer")
        .help(fmt::format("remove {}", m.recompute_method.key))
        .see(granularity)
        .to(findings);
}

/// Every rank keeps its share of a layer's input, which sequence parallelism has split already.
void check_distributed(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& distribute = m.distribute_saved_activations;
  if (!distribute.value_or(false)) return;
  const auto refuse = [&](const std::string& problem, const std::string& help) {
    report("CP381", distribute, fmt::format("{} {}", distribute.key, problem))
        .why("it spreads the saved inputs of recomputed layers over the tensor-parallel ranks")
        .help(help)
        .to(findings);
  };
  const bool full = m.recompute_granularity.value_or("") == "full";
  if (plan::requested_degrees(plan.config).tp == 1)
    refuse("needs TP above 1", fmt::format("remove {}", distribute.key));
  else if (plan.config.parallel.sequence_parallel.value_or(false))
    refuse("does not go with sequence parallelism", fmt::format("remove {}", distribute.key));
  else if (!full)
    refuse("needs full recomputation",
           fmt::format("use {}: full",
                       spelled(plan, m.recompute_granularity, "recompute_granularity")));
}

void check_cpu_offloading(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  if (!m.cpu_offloading.value_or(false) || !m.recompute_granularity.given()) return;
  report("CP383", m.cpu_offloading,
         fmt::format("{} does not go with {}", m.cpu_offloading.key, m.recompute_granularity.key))
      .why("what is computed again need not be moved away")
      .help(fmt::format("remove {} or {}", m.cpu_offloading.key, m.recompute_granularity.key))
      .see(m.recompute_granularity)
      .to(findings);
}

}  // namespace

void check_recompute(const Plan& plan, Diagnostics& findings) {
  if (!is_megatron(plan)) return check_offloading(plan, findings);
  check_full(plan, findings);
  check_selective(plan, findings);
  check_distributed(plan, findings);
  check_cpu_offloading(plan, findings);
}

}  // namespace cpplan::rules
