// TP * CP * PP * DP = world, exactly.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/fitting.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using config::Setting;
using diag::Diagnostics;
using diag::finding;
using plan::Plan;

struct Degree {
  std::string key;  // as the file spells it
  const char* letters;
  const Setting<Index>& setting;
  Index value;                                               // as it counts: at least 1
  std::vector<Index> (*nearest)(const Plan&, Index wanted);  // values that the plan allows
  bool (*fits)(const Plan&, Index value);
};

std::vector<Degree> model_parallel_degrees(const Plan& plan) {
  const auto& p = plan.config.parallel;
  const auto d = plan::requested_degrees(plan.config);
  const auto& cp = plan::context_parallel_setting(plan.config);
  const auto name = [&](const Setting<Index>& setting, const char* megatron, const char* axolotl) {
    return spelled(plan, setting, megatron, axolotl);
  };
  return {{name(p.tensor_parallel_size, "tensor_model_parallel_size", "tensor_parallel_size"), "TP",
           p.tensor_parallel_size, d.tp, nearest_tp, tp_fits},
          {name(cp, "context_parallel_size", "context_parallel_size"), "CP", cp, d.cp, nearest_cp,
           cp_fits},
          {name(p.pipeline_parallel_size, "pipeline_model_parallel_size", "pipeline_parallel_size"),
           "PP", p.pipeline_parallel_size, d.pp, nearest_pp, pp_fits}};
}

void check_sign(const char* key, const Setting<Index>& setting, Diagnostics& findings) {
  if (!setting.given() || *setting >= 1) return;
  const std::string name = key_of(setting, key);
  if (*setting == 0) {
    findings.push_back(finding("CP317", setting.span, fmt::format("{}: 0 is treated as 1", name),
                               {.why = "a degree counts ranks, and the framework reads 0 as unset",
                                .help = {fmt::format("write {}: 1, or leave the key out", name)}}));
  } else {
    findings.push_back(finding(
        "CP303", setting.span, fmt::format("{} is {} (it must be at least 1)", name, *setting),
        {.why = "a degree counts ranks; a negative one would make the batch negative",
         .help = {fmt::format("write {}: 1, or leave the key out", name)}}));
  }
}

void check_signs(const Plan& plan, Diagnostics& findings) {
  const auto& p = plan.config.parallel;
  check_sign("tensor_parallel_size", p.tensor_parallel_size, findings);
  check_sign("context_parallel_size", p.context_parallel_size, findings);
  check_sign("sequence_parallel_degree", p.sequence_parallel_degree, findings);
  check_sign("pipeline_parallel_size", p.pipeline_parallel_size, findings);
  check_sign("data_parallel_size", p.data_parallel_size, findings);
  check_sign("dp_shard_size", p.dp_shard_size, findings);
  check_sign("dp_replicate_size", p.dp_replicate_size, findings);
  check_sign("expert_parallel_size", p.expert_parallel_size, findings);
}

void check_world_itself(const Plan& plan, Diagnostics& findings) {
  constexpr Index most = std::numeric_limits<int>::max();
  if (plan.world.size >= 1 && plan.world.size <= most) return;
  findings.push_back(finding(
      "CP302", file_of(plan),
      fmt::format("the world has {} ranks ({} gives that)", plan.world.size, plan.world.source),
      {.why = fmt::format("a world has between 1 and {} ranks", with_thousands(most)),
       .help = {"give the number of GPUs with --world-size N, for example 8"}}));
}

/// Worlds next to the present one that a block of ranks divides.
std::string world_choices(Index block, Index world) {
  std::vector<std::string> words;
  for (const Index n : nearest_multiples(block, world))
    words.push_back(fmt::format("--world-size {}", n));
  return join_words(words, "or");
}

/// megatron/training/yaml_arguments.py cuts TP down to the world, and PP to what TP leaves of it.
bool is_clamped(const Degree& degree, const Plan& plan) {
  const bool cut = std::string_view(degree.letters) == "TP";
  return cut && plan.config.megatron.form == config::MegatronForm::nested &&
         degree.value > plan.world.size;
}

/// "13 is not divisible by 4": a degree that divides no world of this size, whatever the others
/// are.
void report_degree(const Degree& degree, const Plan& plan, Diagnostics& findings) {
  const Index world = plan.world.size;
  const std::string& key = degree.key;
  diag::Details details;
  details.label = fmt::format("does not divide {}", with_thousands(world));
  details.why = fmt::format("the world ({}) splits into blocks of {} ranks", plan.world.source,
                            degree.letters);
  if (is_clamped(degree, plan))
    details.why +=
        fmt::format("; Megatron's YAML path takes {} = min({}, {}) in its place without a word",
                    std::min(degree.value, world), degree.value, world);
  if (const auto near = degree.nearest(plan, degree.value); !near.empty())
    details.help.push_back(fmt::format("use {}", choices(key, near)));
  details.help.push_back(fmt::format("or {}", world_choices(degree.value, world)));
  findings.push_back(finding(
      "CP304", degree.setting.span,
      fmt::format("world size {} is not divisible by {} {}", world, key, degree.value), details));
}

/// The degree with which the others would have to change least: the largest.
const Degree& largest(const std::vector<Degree>& degrees) {
  return *std::ranges::max_element(degrees, {}, &Degree::value);
}

/// Each divides the world, their product does not.
void report_block(const std::vector<Degree>& degrees, Index block, const Plan& plan,
                  Diagnostics& findings) {
  const Degree& first = largest(degrees);
  const Index world = plan.world.size;
  diag::Details details;
  details.why =
      fmt::format("the world ({}) splits into blocks of TP*CP*PP ranks", plan.world.source);
  if (const auto near = first.nearest(plan, first.value); !near.empty())
    details.help.push_back(fmt::format("use {}", choices(first.key, near)));
  details.help.push_back(fmt::format("or {}", world_choices(block, world)));
  for (const Degree& degree : degrees)
    if (&degree != &first && degree.value > 1) relate(details.related, degree.setting);
  findings.push_back(
      finding("CP304", first.setting.span,
              fmt::format("world size {} is not divisible by TP*CP*PP = {}*{}*{} = {}", world,
                          degrees[0].value, degrees[1].value, degrees[2].value, block),
              details));
}

void report_overflow(const std::vector<Degree>& degrees, Diagnostics& findings) {
  const Degree& first = largest(degrees);
  findings.push_back(
      finding("CP304", first.setting.span,
              fmt::format("TP*CP*PP = {}*{}*{} does not fit 64 bits", degrees[0].value,
                          degrees[1].value, degrees[2].value),
              {.why = "the product is the number of ranks that hold one copy of the model",
               .help = {fmt::format("use {}: 1", first.key)}}));
}

/// True where the degrees divide the world.
bool check_block(const Plan& plan, Diagnostics& findings) {
  const auto degrees = model_parallel_degrees(plan);
  const auto block = plan::model_parallel_size(plan::requested_degrees(plan.config));
  if (!block) {
    report_overflow(degrees, findings);
    return false;
  }
  if (plan.world.size < 1 || plan.world.size % *block == 0) return plan.world.size >= 1;
  bool alone = false;
  for (const Degree& degree : degrees) {
    if (plan.world.size % degree.value == 0) continue;
    report_degree(degree, plan, findings);
    alone = true;
  }
  if (!alone) report_block(degrees, *block, plan, findings);
  return false;
}

/// data_parallel_size is a check: what it says must be what the world leaves.
void check_product(const Plan& plan, Diagnostics& findings) {
  const auto& asked = plan.config.parallel.data_parallel_size;
  if (!asked.given() || *asked < 1) return;
  const auto d = plan::requested_degrees(plan.config);
  const Index block = d.tp * d.cp * d.pp, dp = plan.world.size / block;
  if (*asked == dp) return;
  const auto ranks = checked_multiply(block, *asked);
  diag::Details details;
  details.label = fmt::format("the world leaves {}", with_thousands(dp));
  details.why = fmt::format("{} ranks ({}) over blocks of TP*CP*PP = {} leave DP {}",
                            with_thousands(plan.world.size), plan.world.source,
                            with_thousands(block), with_thousands(dp));
  details.help = {fmt::format("use {}: {}", asked.key, dp)};
  if (ranks) details.help.push_back(fmt::format("or --world-size {}", *ranks));
  // Another degree can make up for it where the factor is whole.
  for (const Degree& degree : model_parallel_degrees(plan)) {
    const auto rest = checked_multiply(block / degree.value, *asked);
    if (!rest || plan.world.size % *rest != 0) continue;
    if (!degree.fits(plan, plan.world.size / *rest)) continue;
    details.help.push_back(fmt::format("or {}: {}", degree.key, plan.world.size / *rest));
  }
  for (const Degree& degree : model_parallel_degrees(plan)) relate(details.related, degree.setting);
  findings.push_back(
      finding("CP302", asked.span,
              fmt::format("TP*CP*PP*DP = {}*{}*{}*{} = {} ranks, but the world has {}", d.tp, d.cp,
                          d.pp, *asked, ranks ? with_thousands(*ranks) : "more than 2^63",
                          with_thousands(plan.world.size)),
              details));
}

}  // namespace

void check_world(const Plan& plan, Diagnostics& findings) {
  check_signs(plan, findings);
  check_world_itself(plan, findings);
  if (check_block(plan, findings)) check_product(plan, findings);
}

}  // namespace cpplan::rules
