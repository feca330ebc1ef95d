// dp_shard, dp_replicate and expert parallelism: axolotl's filling rules (utils/distributed.py)
// with its floors replaced by errors.
#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using config::Setting;
using diag::Diagnostics;
using diag::finding;
using plan::Plan;

bool is_set(const Setting<Index>& setting) {
  return setting.given() && *setting > 1;
}

/// Ranks that TP, CP, PP leave; none where they do not divide the world (another rule says so).
std::optional<Index> data_parallel_ranks(const Plan& plan) {
  const auto block = plan::model_parallel_size(plan::requested_degrees(plan.config));
  if (!block || plan.world.size < 1 || plan.world.size % *block != 0) return std::nullopt;
  return plan.world.size / *block;
}

/// True where expert parallelism divides what is left.
bool check_expert_ranks(const Plan& plan, Index dp, Diagnostics& findings) {
  const auto& ep = plan.config.parallel.expert_parallel_size;
  if (!is_set(ep) || dp % *ep == 0) return true;
  diag::Details details;
  details.why =
      fmt::format("expert ranks are data-parallel ranks, of which the world of {} leaves {}",
                  plan.world.size, dp);
  const auto& p = plan.config.parallel;
  const bool shares =
      p.dp_shard_size.value_or(1) > 1 || plan::requested_degrees(plan.config).cp > 1;
  const auto near =
      nearest_fitting(dp, *ep, [&](Index n) { return shares || n == 1 || n == plan.world.size; });
  details.help = {fmt::format("use {}", choices(ep.key, near))};
  findings.push_back(
      finding("CP315", ep.span,
              fmt::format("{} {} must divide the {} data-parallel ranks of world size {}", ep.key,
                          *ep, dp, plan.world.size),
              details));
  return false;
}

void check_fsdp(const Plan& plan, Diagnostics& findings) {
  const auto& shard = plan.config.parallel.dp_shard_size;
  if (!is_set(shard) || plan.config.features.fsdp.value_or(false)) return;
  findings.push_back(finding(
      "CP305", shard.span, fmt::format("{} {} needs an fsdp_config", shard.key, *shard),
      {.why = "FSDP is what shards parameters over these ranks",
       .help = {fmt::format("add fsdp_version: 2 and an fsdp_config, or remove {}", shard.key)}}));
}

/// "dp_replicate_size 2 * dp_shard_size 4", of those that are given.
std::string product_text(const config::ParallelSettings& p) {
  std::vector<std::string> factors;
  for (const auto* setting : {&p.dp_replicate_size, &p.dp_shard_size})
    if (is_set(*setting)) factors.push_back(fmt::format("{} {}", setting->key, **setting));
  return join(factors, " * ");
}

void report_product(const Plan& plan, Index rest, Index asked, Diagnostics& findings) {
  const auto& p = plan.config.parallel;
  const auto& blamed = is_set(p.dp_shard_size) ? p.dp_shard_size : p.dp_replicate_size;
  const Index other =
      is_set(p.dp_shard_size) && is_set(p.dp_replicate_size) ? *p.dp_replicate_size : 1;
  const auto d = plan::requested_degrees(plan.config);
  const Index block = d.tp * d.cp * d.pp * plan.layout.ep;
  const auto ranks = checked_multiply(block, asked);
  const std::string needed = ranks ? std::to_string(*ranks) : "more than 2^63";
  diag::Details details;
  details.why =
      fmt::format("TP*CP*PP*EP = {}*{}*{}*{} leave {} of the {} ranks to dp_replicate * dp_shard",
                  d.tp, d.cp, d.pp, plan.layout.ep, rest, plan.world.size);
  if (rest == 1)
    details.help.push_back(fmt::format("remove {}: nothing is left for it", blamed.key));
  else if (rest % other == 0)
    details.help.push_back(fmt::format("use {}: {}, or remove it", blamed.key, rest / other));
  if (ranks) details.help.push_back(fmt::format("or --world-size {}", *ranks));
  if (&blamed != &p.dp_replicate_size && other > 1) relate(details.related, p.dp_replicate_size);
  if (d.tp > 1) relate(details.related, p.tensor_parallel_size);
  if (d.cp > 1) relate(details.related, plan::context_parallel_setting(plan.config));
  findings.push_back(
      finding("CP306", blamed.span,
              fmt::format("{} over blocks of {} is {}*{} = {} ranks, but the world "
                          "has {}",
                          product_text(p), block, block, asked, needed, plan.world.size),
              details));
}

/// What is given must divide what is left, and equal it where both are given.
bool check_given_product(const Plan& plan, Index rest, Diagnostics& findings) {
  const auto& p = plan.config.parallel;
  const bool shards = is_set(p.dp_shard_size), replicates = is_set(p.dp_replicate_size);
  if (!shards && !replicates) return true;
  const auto asked =
      checked_multiply(shards ? *p.dp_shard_size : 1, replicates ? *p.dp_replicate_size : 1);
  const bool fits = asked && (shards && replicates ? rest == *asked : rest % *asked == 0);
  if (!fits) report_product(plan, rest, asked.value_or(std::max<Index>(1, rest)), findings);
  return fits;
}

/// Ranks that are left over and nothing fills: DDP beside an explicit 1 or an incomplete product.
void check_left_over(const Plan& plan, Index rest, Diagnostics& findings) {
  const auto& p = plan.config.parallel;
  const Index filled = plan.layout.dp_shard * plan.layout.dp_replicate;
  const bool fsdp = plan.config.features.fsdp.value_or(false);
  if (filled != rest) {
    const auto& blamed = p.dp_shard_size.given() ? p.dp_shard_size : p.dp_replicate_size;
    findings.push_back(finding(
        "CP306", blamed.span,
        fmt::format("dp_replicate * dp_shard = {} * {} = {}, but {} data-parallel ranks are "
                    "left ({} != {} and nothing fills the rest)",
                    plan.layout.dp_replicate, plan.layout.dp_shard, filled, rest, filled, rest),
        {.why = "without an fsdp_config no ranks are added to dp_shard",
         .help = {fmt::format("remove {} for plain data parallelism, or add an fsdp_config",
                              blamed.key)}}));
  } else if (fsdp && p.dp_shard_size.value_or(0) == 1 && plan.layout.dp_shard > 1) {
    findings.push_back(
        finding("CP319", p.dp_shard_size.span,
                fmt::format("{}: 1 is overridden: with FSDP the {} ranks that are left are sharded "
                            "over",
                            p.dp_shard_size.key, plan.layout.dp_shard),
                {.why = "axolotl fills dp_shard with all ranks that nothing else takes",
                 .help = {fmt::format("write {}: {}, or remove fsdp_config", p.dp_shard_size.key,
                                      plan.layout.dp_shard)}}));
  }
}

/// accelerate refuses replicas that are not sharded beside TP or CP.
void check_plain_replicas(const Plan& plan, Diagnostics& findings) {
  const auto& p = plan.config.parallel;
  const auto d = plan::requested_degrees(plan.config);
  if (!is_set(p.dp_replicate_size) || plan.layout.dp_shard > 1 || (d.tp == 1 && d.cp == 1)) return;
  diag::Details details;
  details.why = "accelerate combines TP and CP with sharded data parallelism only";
  details.help = {fmt::format("use dp_shard_size: {} with an fsdp_config, and remove {}",
                              *p.dp_replicate_size, p.dp_replicate_size.key)};
  if (d.tp > 1) relate(details.related, p.tensor_parallel_size);
  if (d.cp > 1) relate(details.related, plan::context_parallel_setting(plan.config));
  findings.push_back(finding("CP314", p.dp_replicate_size.span,
                             fmt::format("{} {} with dp_shard 1 does not go with TP {} and CP {}",
                                         p.dp_replicate_size.key, *p.dp_replicate_size, d.tp, d.cp),
                             details));
}

}  // namespace

void check_data_parallel(const Plan& plan, Diagnostics& findings) {
  if (is_megatron(plan)) return;  // EP sits inside DP there, and nothing is filled in
  check_fsdp(plan, findings);
  const auto dp = data_parallel_ranks(plan);
  if (!dp || !check_expert_ranks(plan, *dp, findings)) return;
  const Index rest = *dp / plan.layout.ep;
  if (!check_given_product(plan, rest, findings)) return;
  check_left_over(plan, rest, findings);
  check_plain_replicas(plan, findings);
}

}  // namespace cpplan::rules
