// Expert parallelism: it multiplies data parallelism in axolotl and sits inside it in Megatron.
#include <fmt/format.h>

#include "base/checked.hpp"
#include "model/resolve.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using config::Setting;
using diag::Diagnostics;
using diag::Severity;
using plan::Plan;

const Setting<Index>& experts_setting(const Plan& plan) {
  const auto& in_megatron = plan.config.megatron.num_experts;
  return in_megatron.given() ? in_megatron : plan.config.model.num_local_experts;
}

/// As given, else the known model's; 0 where neither says.
Index expert_count(const Plan& plan) {
  return experts_setting(plan).value_or(
      model::known_dimensions(plan.config).experts.num_local_experts);
}

/// The experts are cut into equal blocks, one an expert-parallel rank.
void check_count(const Plan& plan, const Setting<Index>& ep, Diagnostics& findings) {
  const Index experts = expert_count(plan);
  if (experts >= 1 && experts % *ep != 0) {
    report("CP361", ep, fmt::format("{} experts do not divide over {} {}", experts, ep.key, *ep))
        .why("every expert-parallel rank holds the same number of whole experts")
        .help(fmt::format(
            "use {}",
            choices(ep.key, nearest_fitting(experts, *ep,
                                            [&](Index n) { return plan.world.size % n == 0; }))))
        .see(experts_setting(plan))
        .to(findings);
  } else if (experts < 1 && is_megatron(plan)) {
    report("CP360", ep, fmt::format("{} {} needs experts", ep.key, *ep))
        .why("the model has none unless their number is given, and Megatron stops")
        .help(fmt::format("add {}: {}, or use {}: 1", spelled_by_dialect(plan, "num_experts"), *ep,
                          ep.key))
        .to(findings);
  } else if (experts < 1 && plan.model) {
    report("CP360", ep, fmt::format("{} {}, but {} has no experts", ep.key, *ep, plan.model->name))
        .why("there is nothing that expert parallelism could place on the ranks")
        .help(fmt::format("use {}: 1", ep.key))
        .see(plan.config.model.base_model)
        .as(Severity::warning)
        .to(findings);
  }
}

void check_router_groups(const Plan& plan, Diagnostics& findings) {
  const auto& groups = plan.config.megatron.moe_router_num_groups;
  const Index experts = expert_count(plan);
  if (!groups.given() || *groups < 1 || experts < 1 || experts % *groups == 0) return;
  report("CP361", groups,
         fmt::format("{} experts do not divide into {} {}", experts, groups.key, *groups))
      .why("the router picks groups of equal size before it picks experts")
      .help(fmt::format("use {}", choices(groups.key, nearest_divisors(experts, *groups))))
      .see(experts_setting(plan))
      .to(findings);
}

/// axolotl's plug-in has no tensor-parallel experts.
void check_with_tensor_parallel(const Plan& plan, const Setting<Index>& ep, Diagnostics& findings) {
  const auto& tp = plan.config.parallel.tensor_parallel_size;
  if (tp.value_or(1) <= 1) return;
  report("CP362", ep, fmt::format("{} {} does not go with {} {}", ep.key, *ep, tp.key, *tp))
      .why("axolotl has no tensor-parallel experts, and its plug-in stops")
      .help(fmt::format("use {}: 1, or {}: 1", tp.key, ep.key))
      .see(tp)
      .to(findings);
}

/// Part of the world is expert parallel: something must say what the rest does.
void check_rest(const Plan& plan, const Setting<Index>& ep, Diagnostics& findings) {
  const auto& p = plan.config.parallel;
  const auto d = plan::requested_degrees(plan.config);
  const bool partial = plan.world.size > *ep && plan.world.size % *ep == 0;
  if (!partial || d.cp > 1 || d.tp > 1 || p.dp_shard_size.value_or(1) > 1) return;
  if (p.dp_replicate_size.value_or(1) > 1) return;  // another rule counts the product
  const Index rest = plan.world.size / *ep;
  report("CP363", ep,
         fmt::format("{} {} leaves {} of {} ranks to nothing", ep.key, *ep, rest, plan.world.size))
      .why(
          "beside experts on part of the world axolotl's plug-in asks for EP * dp_shard * CP = "
          "world")
      .help(fmt::format("add dp_shard_size: {} with an fsdp_config", rest))
      .help(fmt::format("or {}: {}", ep.key, plan.world.size))
      .to(findings);
}

/// The grid of experts is laid out apart from that of attention: ETP * EP * PP ranks a block.
void check_grid(const Plan& plan, const Setting<Index>& ep, Diagnostics& findings) {
  const auto d = plan::requested_degrees(plan.config);
  const auto& etp = plan.config.megatron.expert_tensor_parallel_size;
  const Index tensor = std::max<Index>(1, etp.value_or(d.tp));
  const auto block = checked_product(tensor, *ep, d.pp);
  const auto others = checked_multiply(tensor, d.pp);
  if (plan.world.size < 1 || (block && plan.world.size % *block == 0)) return;
  const bool room = others && plan.world.size % *others == 0;
  const auto near = room ? nearest_divisors(plan.world.size / *others, *ep) : std::vector<Index>{};
  report("CP315", ep,
         fmt::format("world size {} is not divisible by ETP*EP*PP = {}*{}*{} = {}", plan.world.size,
                     tensor, *ep, d.pp, block ? std::to_string(*block) : "more than 2^63"))
      .why("experts split the whole world into blocks of their own, inside data parallelism")
      .help(near.empty() ? fmt::format("use {}: 1", ep.key)
                         : fmt::format("use {}", choices(ep.key, near)))
      .help(!etp.given() && d.tp > 1
                ? fmt::format("or {}: 1 (it defaults to TP {})",
                              spelled_by_dialect(plan, "expert_tensor_parallel_size"), d.tp)
                : "")
      .see(etp)
      .to(findings);
}

/// Megatron warns: with TP alone every expert sees each token TP times.
void check_sequence_parallel(const Plan& plan, const Setting<Index>& ep, Diagnostics& findings) {
  const auto& sp = plan.config.parallel.sequence_parallel;
  const auto& tp = plan.config.parallel.tensor_parallel_size;
  if (tp.value_or(1) <= 1 || sp.value_or(false)) return;
  report("CP364", ep,
         fmt::format("{} {} with {} {} and no sequence parallelism", ep.key, *ep, tp.key, *tp))
      .why(
          "tokens are not split over the tensor-parallel ranks before they are sent to experts, "
          "which Megatron advises against")
      .help(fmt::format("add {}: true", spelled_by_dialect(plan, "sequence_parallel")))
      .see(tp)
      .as(Severity::warning)
      .to(findings);
}

/// megatron/core/transformer/transformer_config.py: hiding the all-to-all of experts.
void check_overlap(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& overlap = m.overlap_moe_a2a;
  if (!overlap.value_or(false)) return;
  const auto refuse = [&](const std::string& problem, const std::string& help) {
    report("CP365", overlap, fmt::format("{} {}", overlap.key, problem))
        .why("the all-to-all of one micro-batch is hidden behind the compute of another")
        .help(help)
        .to(findings);
  };
  const auto d = plan::requested_degrees(plan.config);
  const auto& ep = plan.config.parallel.expert_parallel_size;
  const bool interleaved = m.virtual_stages.given() || m.layers_per_virtual_stage.given() ||
                           m.pipeline_layout.given() || m.virtual_pipeline_size.given();
  if (ep.value_or(1) <= 1)
    refuse("needs expert parallelism", fmt::format("remove {}", overlap.key));
  if (d.pp > 1 && !interleaved)
    refuse(
        "needs virtual stages beside pipeline stages",
        fmt::format("add {}: 2", spelled_by_dialect(plan, "num_virtual_stages_per_pipeline_rank")));
  if (m.moe_token_dispatcher.given() && *m.moe_token_dispatcher == "allgather")
    refuse("needs an all-to-all dispatcher",
           fmt::format("use {}: alltoall", m.moe_token_dispatcher.key));
  if (m.recompute_granularity.value_or("") == "full")
    refuse("does not go with full recomputation",
           fmt::format("use {}: selective", m.recompute_granularity.key));
}

}  // namespace

void check_experts(const Plan& plan, Diagnostics& findings) {
  check_router_groups(plan, findings);
  if (is_megatron(plan)) check_overlap(plan, findings);
  const auto& ep = plan.config.parallel.expert_parallel_size;
  if (!ep.given() || *ep <= 1) return;
  check_count(plan, ep, findings);
  if (is_megatron(plan)) {
    check_grid(plan, ep, findings);
    check_sequence_parallel(plan, ep, findings);
  } else {
    check_with_tensor_parallel(plan, ep, findings);
    check_rest(plan, ep, findings);
  }
}

}  // namespace cpplan::rules
