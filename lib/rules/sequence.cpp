// What context and sequence parallelism ask of a sequence's length, of attention and of packing.
#include <fmt/format.h>

#include "base/checked.hpp"
#include "model/resolve.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/fitting.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using diag::finding;
using plan::Plan;

/// The largest degree below `cp` that fits the plan; 1 always does.
Index smaller_fitting_degree(const Plan& plan, Index cp) {
  const auto near = nearest_cp(plan, cp);
  return near.empty() || near.front() > cp ? 1 : near.front();
}

/// The largest degree below `cp` with which plain equal chunks would come out even.
Index smaller_contiguous_degree(const Plan& plan, Index tokens, Index cp) {
  const Index blocks = plan.world.size % cp == 0 ? cp : plan.world.size;
  const auto near = nearest_fitting(
      blocks, cp, [&](Index degree) { return degree < cp && tokens % degree == 0; });
  return near.empty() ? 1 : near.front();
}

/// Lengths on both sides, then smaller degrees: "use sequence_len: 20904 or sequence_len: 20912",
/// "or context_parallel_size: 1", "context_parallel_size: 2 only with contiguous chunks".
std::vector<std::string> chunk_help(const Plan& plan, const std::string& key, Index tokens,
                                    const config::Setting<Index>& degree) {
  const Index cp = *degree;
  const Index unit = sequence_unit(plan, cp).value_or(2 * cp);
  const Index even = smaller_fitting_degree(plan, cp);
  const Index contiguous = smaller_contiguous_degree(plan, tokens, cp);
  std::vector<std::string> help = {
      fmt::format("use {}", choices(key, nearest_multiples(unit, tokens))),
      fmt::format("or {}: {}", degree.key, even)};
  if (contiguous > even)
    help.push_back(fmt::format("{} {} would split {} tokens into contiguous chunks only",
                               degree.key, contiguous, tokens));
  return help;
}

std::string padding(Index tokens, Index unit) {
  const Index padded = round_up(tokens, unit);
  return fmt::format("padded by {} to {}", padded - tokens, padded);
}

/// Megatron stops; axolotl and our engine pad.
std::string remainder_text(const Plan& plan, Index tokens, Index unit) {
  return is_megatron(plan) ? fmt::format("{} % {} = {}", tokens, unit, tokens % unit)
                           : padding(tokens, unit);
}

/// True where the length is a multiple of 2*CP.
bool check_chunks(const Plan& plan, Index tokens, Diagnostics& findings) {
  const Index cp = plan::requested_degrees(plan.config).cp;
  const auto chunks = checked_multiply(2, cp);
  if (cp == 1 || !chunks || tokens % *chunks == 0) return true;
  const auto& length = plan.config.batch.sequence_len;
  const auto& degree = plan::context_parallel_setting(plan.config);
  const std::string key = spelled(plan, length, "seq_length", "sequence_len");
  diag::Details details;
  details.label = fmt::format("{} % {} = {}", tokens, *chunks, tokens % *chunks);
  details.why =
      "causal work is balanced by giving each rank two equal chunks, one from each half; without "
      "padding the last chunk is shorter and the backward pass of such a layout fails";
  details.help = chunk_help(plan, key, tokens, degree);
  relate(details.related, degree);
  findings.push_back(
      with_severity(finding("CP301", place_of(length.span, degree.span),
                            fmt::format("{} {} is not a multiple of 2*CP = {} ({})", key, tokens,
                                        *chunks, remainder_text(plan, tokens, *chunks)),
                            details),
                    error_in_megatron(plan)));
  return false;
}

/// The exact joint rule: seq % (CP * lcm(2, TP)) == 0.
void check_shards(const Plan& plan, Index tokens, Diagnostics& findings) {
  const auto d = plan::requested_degrees(plan.config);
  const bool sharded =
      d.tp > 1 && plan.config.parallel.sequence_parallel.value_or(!is_megatron(plan));
  const auto unit = sequence_unit(plan, d.cp);
  if (!sharded || !unit || tokens % *unit == 0) return;
  const auto& length = plan.config.batch.sequence_len;
  const auto& degree = plan.config.parallel.tensor_parallel_size;
  const std::string key = spelled(plan, length, "seq_length", "sequence_len");
  Report("CP309", place_of(length.span, degree.span),
         fmt::format("{} {} is not a multiple of CP*lcm(2, TP) = {}*lcm(2, {}) = {} ({})", key,
                     tokens, d.cp, d.tp, *unit, remainder_text(plan, tokens, *unit)))
      .why(
          "with sequence parallelism each TP rank keeps an equal share of the tokens that a CP "
          "rank "
          "holds")
      .help(fmt::format("use {}", choices(key, nearest_multiples(*unit, tokens))))
      .help(is_megatron(plan) ? "or sequence_parallel: false"
                              : "or cpplan.run.sequence_parallel: false")
      .see(degree)
      .as(error_in_megatron(plan))
      .to(findings);
}

/// Megatron stops where the model has fewer positions; elsewhere RoPE goes on past them, untrained.
void check_positions(const Plan& plan, Index tokens, Diagnostics& findings) {
  const auto& in_megatron = plan.config.megatron.max_position_embeddings;
  const auto& m = is_megatron(plan) && in_megatron.given()
                      ? in_megatron
                      : plan.config.model.max_position_embeddings;
  const Index most = m.value_or(model::known_dimensions(plan.config).max_position_embeddings);
  if (most < 1 || tokens <= most) return;
  const auto& length = plan.config.batch.sequence_len;
  const std::string key = spelled(plan, length, "seq_length", "sequence_len");
  Report("CP205", place_of(length.span, m.span),
         fmt::format("{} {} is beyond the {} positions of the model", key, tokens, most))
      .why(is_megatron(plan) ? "Megatron stops: every token needs a position"
                             : "positions that training has never seen work badly without a scaled "
                               "rope_theta")
      .help(fmt::format("use {}: {} or less", key, most))
      .help(fmt::format("or {}: {}", spelled(plan, m, "max_position_embeddings"), tokens))
      .see(m)
      .as(is_megatron(plan) ? diag::Severity::error : diag::Severity::note)
      .to(findings);
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
  const auto tokens = sequence_tokens(plan);
  if (tokens && check_chunks(plan, *tokens, findings)) check_shards(plan, *tokens, findings);
  if (tokens) check_positions(plan, *tokens, findings);
  const bool splits = plan::requested_degrees(plan.config).cp > 1;
  if (!splits || is_megatron(plan)) return;
  check_flash(plan, findings);
  check_packed_micro_batch(plan, findings);
}

}  // namespace cpplan::rules
