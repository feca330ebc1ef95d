// What context and sequence parallelism ask of a sequence's length, of attention and of packing.
#include <fmt/format.h>

#include <numeric>

#include "base/checked.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using diag::finding;
using plan::Plan;

bool splits_sequence_over_tp(const Plan& plan) {
  const bool fallback = plan.config.dialect == config::Dialect::axolotl;
  return plan::requested_degrees(plan.config).tp > 1 &&
         plan.config.parallel.sequence_parallel.value_or(fallback);
}

/// What the engine's padding adds, and the lengths that need none.
std::vector<std::string> length_help(const std::string& key, Index unit, Index tokens,
                                     const config::Setting<Index>& degree, Index nearest_degree) {
  std::vector<std::string> help = {
      fmt::format("use {}", choices(key, nearest_multiples(unit, tokens)))};
  if (nearest_degree >= 1 && degree.given())
    help.push_back(fmt::format("or {}: {}", degree.key, nearest_degree));
  return help;
}

/// The largest degree below `cp` with which tokens split into 2*degree chunks.
Index fitting_degree(Index tokens, Index cp) {
  if (tokens % 2 != 0) return 1;
  const auto near = nearest_divisors(tokens / 2, cp);
  return near.empty() ? 1 : near.front();
}

std::string padding(Index tokens, Index unit) {
  const Index padded = round_up(tokens, unit);
  return fmt::format("padded by {} to {}", padded - tokens, padded);
}

/// True where the length is a multiple of 2*CP.
bool check_chunks(const Plan& plan, Index tokens, Diagnostics& findings) {
  const Index cp = plan::requested_degrees(plan.config).cp;
  const auto chunks = checked_multiply(2, cp);
  if (cp == 1 || !chunks || tokens % *chunks == 0) return true;
  const auto& length = plan.config.batch.sequence_len;
  const auto& degree = plan::context_parallel_setting(plan.config);
  const std::string key = key_of(length, "sequence_len");
  diag::Details details;
  details.label = fmt::format("{} % {} = {}", tokens, *chunks, tokens % *chunks);
  details.why =
      "causal work is balanced by giving each rank two equal chunks, one from each half; without "
      "padding the last chunk is shorter and the backward pass of such a layout fails";
  details.help = length_help(key, *chunks, tokens, degree, fitting_degree(tokens, cp));
  relate(details.related, degree);
  findings.push_back(
      with_severity(finding("CP301", place_of(length.span, degree.span),
                            fmt::format("{} {} is not a multiple of 2*CP = {} ({})", key, tokens,
                                        *chunks, padding(tokens, *chunks)),
                            details),
                    error_in_megatron(plan)));
  return false;
}

/// The exact joint rule: seq % (CP * lcm(2, TP)) == 0.
void check_shards(const Plan& plan, Index tokens, Diagnostics& findings) {
  if (!splits_sequence_over_tp(plan)) return;
  const auto d = plan::requested_degrees(plan.config);
  const auto even = d.tp % 2 == 0 ? std::optional(d.tp) : checked_multiply(2, d.tp);
  const auto unit = even ? checked_multiply(d.cp, *even) : std::nullopt;
  if (!unit || tokens % *unit == 0) return;
  const auto& length = plan.config.batch.sequence_len;
  const auto& degree = plan.config.parallel.tensor_parallel_size;
  const std::string key = key_of(length, "sequence_len");
  diag::Details details;
  details.why =
      "with sequence parallelism each TP rank keeps an equal share of the tokens that a CP rank "
      "holds";
  details.help = length_help(key, *unit, tokens, degree, 0);
  details.help.push_back("or cpplan.run.sequence_parallel: false");
  relate(details.related, degree);
  findings.push_back(with_severity(
      finding("CP309", place_of(length.span, degree.span),
              fmt::format("{} {} is not a multiple of CP*lcm(2, TP) = {}*lcm(2, {}) = {} ({})", key,
                          tokens, d.cp, d.tp, *unit, padding(tokens, *unit)),
              details),
      error_in_megatron(plan)));
}

bool is_flash(std::string_view implementation) {
  return implementation.find("flash_attention") != std::string_view::npos ||
         implementation.find("flash-attn") != std::string_view::npos;
}

void check_flash(const Plan& plan, Diagnostics& findings) {
  const auto& features = plan.config.features;
  const bool flash = features.flash_attention.value_or(false) ||
                     is_flash(features.attn_implementation.value_or(""));
  if (flash) return;
  const auto& degree = plan::context_parallel_setting(plan.config);
  const auto& implementation = features.attn_implementation;
  diag::Details details;
  details.why = "axolotl's ring attention is built on the flash attention library";
  details.help = {"use attn_implementation: flash_attention_2",
                  fmt::format("or {}: 1", degree.key)};
  if (implementation.given()) relate(details.related, degree);
  findings.push_back(
      finding("CP311", implementation.given() ? implementation.span : degree.span,
              fmt::format("{} {} requires flash attention, {}", degree.key, *degree,
                          implementation.given() ? fmt::format("not \"{}\"", *implementation)
                                                 : "and attn_implementation is not set"),
              details));
}

void check_packed_micro_batch(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.config.batch;
  if (!b.sample_packing.value_or(false) || b.micro_batch_size.value_or(1) <= 1) return;
  const auto& degree = plan::context_parallel_setting(plan.config);
  diag::Details details;
  details.why = "packed rows are joined into one sequence before it is split over the ranks";
  const auto accumulation =
      checked_multiply(*b.micro_batch_size, plan.batch.gradient_accumulation_steps);
  details.help = {accumulation ? fmt::format("use {}: 1 with gradient_accumulation_steps: {}, the "
                                             "same batch",
                                             b.micro_batch_size.key, *accumulation)
                               : fmt::format("use {}: 1", b.micro_batch_size.key)};
  relate(details.related, b.sample_packing);
  relate(details.related, degree);
  findings.push_back(
      finding("CP310", b.micro_batch_size.span,
              fmt::format("{} is {}, but must be 1 with sample_packing and {} {}",
                          b.micro_batch_size.key, *b.micro_batch_size, degree.key, *degree),
              details));
}

}  // namespace

void check_sequence(const Plan& plan, Diagnostics& findings) {
  const auto& length = plan.config.batch.sequence_len;
  const Index tokens = length.value_or(512);  // axolotl's default
  if (tokens >= 1 && check_chunks(plan, tokens, findings)) check_shards(plan, tokens, findings);
  const bool splits = plan::requested_degrees(plan.config).cp > 1;
  if (!splits || plan.config.dialect != config::Dialect::axolotl) return;
  check_flash(plan, findings);
  check_packed_micro_batch(plan, findings);
}

}  // namespace cpplan::rules
