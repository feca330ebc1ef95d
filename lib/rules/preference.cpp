// Preference and reinforcement training: rl and what it asks of batch, packing and degrees.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "plan/batch.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using plan::Plan;

void check_packing_with_rl(const Plan& plan, Diagnostics& findings) {
  const auto& packing = plan.config.batch.sample_packing;
  const auto& rl = plan.config.features.rl;
  if (!packing.value_or(false) || !rl.given()) return;
  report("CP338", packing, fmt::format("{} does not work with rl: {}", packing.key, *rl))
      .why("preference training compares whole samples")
      .help(fmt::format("use {}: false", packing.key))
      .see(rl)
      .to(findings);
}

/// micro * accumulation of one rank, which axolotl takes as GRPO's generation batch.
std::optional<Index> generation_batch(const Plan& plan) {
  return checked_multiply(plan.batch.micro_batch_size, plan.batch.gradient_accumulation_steps);
}

/// "use gradient_accumulation_steps: 16": the least that reaches `rows` and a multiple of `unit`.
std::string accumulation_for(const Plan& plan, Index rows, Index unit) {
  const Index micro = plan.batch.micro_batch_size;
  const auto common = checked_multiply(unit / std::gcd(unit, micro), micro);
  const auto wanted = common ? checked_multiply(ceil_div(rows, *common), *common) : std::nullopt;
  return wanted ? fmt::format("use gradient_accumulation_steps: {}", *wanted / micro) : "";
}

void report_group(const Plan& plan, Index batch, Index group, Diagnostics& findings) {
  const auto& n = plan.config.rl.num_generations;
  report("CP339", n,
         fmt::format("micro * accumulation = {} is no multiple of {} {}", batch, n.key, group))
      .why("all answers to one prompt are compared within a generation batch")
      .help(accumulation_for(plan, batch, group))
      .help(fmt::format("or {}", choices(n.key, nearest_divisors(batch, group))))
      .see(plan.config.batch.micro_batch_size)
      .see(plan.config.batch.gradient_accumulation_steps)
      .to(findings);
}

/// axolotl, utils/schemas/validation.py: every rank wants a whole group of answers.
void check_group_of_each_rank(const Plan& plan, Index batch, Index group, Diagnostics& findings) {
  const auto needed = checked_multiply(group, plan.world.size);
  if (plan.world.size <= 1 || (needed && batch >= *needed)) return;
  const auto& n = plan.config.rl.num_generations;
  report(
      "CP339", n,
      fmt::format("micro * accumulation = {} is less than {} * world = {} * {} = {}", batch, n.key,
                  group, plan.world.size, needed ? std::to_string(*needed) : "beyond 64 bits"))
      .why("every rank answers at least one prompt in all its variants")
      .help(needed ? accumulation_for(plan, *needed, group) : "")
      .see(plan.config.batch.micro_batch_size)
      .see(plan.config.batch.gradient_accumulation_steps)
      .to(findings);
}

/// The ranks of a context-parallel group share their prompts (core/trainers/grpo/trainer.py).
void check_group_of_parallel_ranks(const Plan& plan, Index group, Diagnostics& findings) {
  const Index cp = plan::requested_degrees(plan.config).cp;
  if (cp <= 1 || plan.world.size % cp != 0) return;
  const Index groups = plan.world.size / cp;
  const auto rows = checked_multiply(groups, plan.batch.micro_batch_size);
  if (!rows || *rows % group == 0) return;
  const auto& n = plan.config.rl.num_generations;
  report("CP339", n,
         fmt::format("{} context-parallel groups * micro {} = {} is no multiple of {} {}", groups,
                     plan.batch.micro_batch_size, *rows, n.key, group))
      .why("the ranks of such a group answer the same prompts, so they count once")
      .help(fmt::format("use micro_batch_size: {}", group / std::gcd(groups, group)))
      .see(plan::context_parallel_setting(plan.config))
      .to(findings);
}

void check_generations(const Plan& plan, Diagnostics& findings) {
  const auto& n = plan.config.rl.num_generations;
  if (plan.config.features.rl.value_or("") != "grpo" || !n.given()) return;
  const auto batch = generation_batch(plan);
  if (*n < 2) {
    report("CP339", n, fmt::format("{} is {} (it must be at least 2)", n.key, *n))
        .why("an answer is judged by its distance to the mean of its group")
        .help(fmt::format("use {}: 8", n.key))
        .to(findings);
  } else if (batch && *batch % *n != 0) {
    report_group(plan, *batch, *n, findings);
  } else if (batch) {
    check_group_of_each_rank(plan, *batch, *n, findings);
    check_group_of_parallel_ranks(plan, *n, findings);
  }
}

}  // namespace

void check_preference(const Plan& plan, Diagnostics& findings) {
  if (is_megatron(plan)) return;
  check_packing_with_rl(plan, findings);
  check_generations(plan, findings);
}

}  // namespace cpplan::rules
