#include "rules/fitting.hpp"

#include "base/checked.hpp"
#include "model/resolve.hpp"
#include "plan/batch.hpp"
#include "plan/degrees.hpp"
#include "plan/stages.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using plan::Plan;

constexpr Index default_sequence_len = 512;  // axolotl, utils/schemas/config.py

/// The world splits into blocks of the three degrees; of this one alone where the other two do not
/// divide it, either.
bool leaves_whole_blocks(const Plan& plan, Index degree, Index other, Index another) {
  const Index world = plan.world.size;
  const auto others = checked_multiply(other, another);
  if (!others || world % *others != 0) return world % degree == 0;
  return world / *others % degree == 0;
}

bool divides_key_values(Index key_values, Index tp) {
  return key_values < 1 || key_values % tp == 0 || tp % key_values == 0;
}

bool splits_over_tp(const Plan& plan, Index tp) {
  return tp > 1 && plan.config.parallel.sequence_parallel.value_or(!is_megatron(plan));
}

}  // namespace

bool tp_fits(const Plan& plan, Index tp) {
  const auto d = plan::requested_degrees(plan.config);
  const auto model = model::known_dimensions(plan.config);
  const bool splits_heads = model.num_attention_heads < 1 || model.num_attention_heads % tp == 0;
  return splits_heads && divides_key_values(model.num_key_value_heads, tp) &&
         leaves_whole_blocks(plan, tp, d.cp, d.pp);
}

bool cp_fits(const Plan& plan, Index cp) {
  const auto d = plan::requested_degrees(plan.config);
  const auto tokens = sequence_tokens(plan);
  const auto unit = sequence_unit(plan, cp);
  const bool splits = unit && (!tokens || *tokens % *unit == 0);
  return splits && leaves_whole_blocks(plan, cp, d.tp, d.pp);
}

bool pp_fits(const Plan& plan, Index pp) {
  const auto d = plan::requested_degrees(plan.config);
  const auto& p = plan.config.parallel;
  const Index layers = model::known_dimensions(plan.config).num_hidden_layers;
  const plan::EndStages ends{p.first_stage_layers.value, p.last_stage_layers.value};
  const bool splits = layers < 1 || plan::stage_layers(layers, pp, ends).has_value();
  return splits && leaves_whole_blocks(plan, pp, d.tp, d.cp);
}

std::vector<Index> nearest_tp(const Plan& plan, Index wanted) {
  return nearest_fitting(plan.world.size, wanted, [&](Index tp) { return tp_fits(plan, tp); });
}

std::vector<Index> nearest_cp(const Plan& plan, Index wanted) {
  return nearest_fitting(plan.world.size, wanted, [&](Index cp) { return cp_fits(plan, cp); });
}

std::vector<Index> nearest_pp(const Plan& plan, Index wanted) {
  return nearest_fitting(plan.world.size, wanted, [&](Index pp) { return pp_fits(plan, pp); });
}

std::optional<Index> sequence_tokens(const Plan& plan) {
  const auto& length = plan.config.batch.sequence_len;
  if (is_unreadable(length)) return std::nullopt;
  if (!length.given() && is_megatron(plan)) return std::nullopt;
  const Index tokens = length.value_or(default_sequence_len);
  if (tokens < 1 || tokens > plan::longest_sequence) return std::nullopt;
  return tokens;
}

std::optional<Index> sequence_unit(const Plan& plan, Index cp) {
  const Index tp = plan::requested_degrees(plan.config).tp;
  if (!splits_over_tp(plan, tp)) return cp == 1 ? Index{1} : checked_multiply(2, cp);
  const auto even = tp % 2 == 0 ? std::optional(tp) : checked_multiply(2, tp);
  return even ? checked_multiply(cp, *even) : std::nullopt;
}

}  // namespace cpplan::rules
