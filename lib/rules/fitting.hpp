#pragma once
// Which values of a degree the rest of the plan allows: what a suggestion may name, so that taking
// it brings no new finding.
#include <vector>

#include "plan/plan.hpp"

namespace cpplan::rules {

/// TP: divides the attention heads, the key-value heads where it can, and leaves whole blocks of
/// the world.
bool tp_fits(const plan::Plan& plan, Index tp);
/// CP: splits the sequence into 2*CP chunks (or CP * lcm(2, TP) with sequence parallelism).
bool cp_fits(const plan::Plan& plan, Index cp);
/// PP: divides the layers, with the end stages as they are given.
bool pp_fits(const plan::Plan& plan, Index pp);

/// The nearest on both sides of `wanted` among the divisors of the world.
std::vector<Index> nearest_tp(const plan::Plan& plan, Index wanted);
std::vector<Index> nearest_cp(const plan::Plan& plan, Index wanted);
std::vector<Index> nearest_pp(const plan::Plan& plan, Index wanted);

/// Tokens that CP and SP have to split: as given, else axolotl's default; none where the value in
/// the file cannot be read.
std::optional<Index> sequence_tokens(const plan::Plan& plan);

/// CP * lcm(2, TP) with sequence parallelism, else 2*CP; 1 for CP 1 without it. None beyond 64
/// bits.
std::optional<Index> sequence_unit(const plan::Plan& plan, Index cp);

}  // namespace cpplan::rules
