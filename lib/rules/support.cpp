#include "rules/support.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace cpplan::rules {
namespace {

/// All divisors, in order; sqrt(n) divisions.
std::vector<Index> divisors(Index n) {
  std::vector<Index> small, large;
  for (Index d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d != n / d) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

// sqrt of this many trial divisions take a millisecond.
constexpr Index largest_factored = Index{1} << 40;

}  // namespace

std::vector<Index> nearest_divisors(Index n, Index wanted, Index most) {
  if (n < 1 || n > largest_factored) return {};
  const auto all = divisors(n);
  const auto above = std::ranges::upper_bound(all, wanted);
  std::vector<Index> near;
  if (above != all.begin()) near.push_back(*(above - 1));
  if (above != all.end()) near.push_back(*above);
  std::erase_if(near, [&](Index d) { return d == wanted || (most > 0 && d > most); });
  return near;
}

std::vector<Index> nearest_fitting(Index n, Index wanted, const std::function<bool(Index)>& works) {
  if (n < 1 || n > largest_factored) return {};
  Index below = 0, above = 0;
  for (const Index d : divisors(n)) {
    if (d == wanted || !works(d)) continue;
    if (d < wanted) below = d;
    if (d > wanted && above == 0) above = d;
  }
  std::vector<Index> near;
  if (below > 0) near.push_back(below);
  if (above > 0) near.push_back(above);
  return near;
}

std::vector<Index> nearest_multiples(Index unit, Index wanted) {
  std::vector<Index> near;
  if (const Index below = wanted / unit * unit; below >= unit) near.push_back(below);
  if (const auto above = checked_multiply(wanted / unit + 1, unit)) near.push_back(*above);
  return near;
}

std::string spelled_by_dialect(const plan::Plan& plan, std::string_view megatron,
                               std::string_view axolotl) {
  if (!is_megatron(plan)) return std::string(axolotl.empty() ? megatron : axolotl);
  std::string name(megatron);
  if (plan.config.megatron.form != config::MegatronForm::model_args) return name;
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

std::optional<Index> micro_batches(const plan::Plan& plan) {
  if (!is_megatron(plan)) return plan.batch.gradient_accumulation_steps;
  const auto& global = plan.config.megatron.global_batch_size;
  if (!global.given()) return 1;  // its default is micro * DP
  const auto unit = checked_multiply(plan.batch.micro_batch_size, plan.layout.dims.dp);
  if (!unit || *global < 1 || *global % *unit != 0) return std::nullopt;
  return *global / *unit;
}

std::string choices(const std::string& key, const std::vector<Index>& values) {
  std::vector<std::string> words;
  for (const Index value : values) words.push_back(fmt::format("{}: {}", key, value));
  return join_words(words, "or");
}

}  // namespace cpplan::rules
