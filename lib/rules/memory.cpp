// What of the memory a config alone can tell: the logits of the output layer.
#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "model/resolve.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/fitting.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using plan::Plan;

/// One fp32 copy above this outweighs the layers of most models; a loss holds two or three.
constexpr Index noticeable = Index{4} << 30;

/// Losses that never hold the logits of a whole sequence.
bool has_fused_loss(const config::FeatureSettings& f) {
  return f.liger.value_or(false) || f.cut_cross_entropy.value_or(false);
}

/// Tokens of a rank * vocabulary * 4 bytes. Megatron's output layer splits the vocabulary over TP;
/// Hugging Face's gathers it.
std::optional<Index> logits_bytes(const Plan& plan, Index vocabulary) {
  const auto d = plan::requested_degrees(plan.config);
  const auto tokens = sequence_tokens(plan);
  if (!tokens || vocabulary < 1) return std::nullopt;
  const Index of_rank = is_megatron(plan) ? ceil_div(vocabulary, d.tp) : vocabulary;
  return checked_product(plan.batch.micro_batch_size, ceil_div(*tokens, d.cp), of_rank, 4);
}

void check_logits(const Plan& plan, Diagnostics& findings) {
  const Index vocabulary = model::known_dimensions(plan.config).vocab_size;
  const auto bytes = logits_bytes(plan, vocabulary);
  if (!bytes || *bytes < noticeable || has_fused_loss(plan.config.features)) return;
  const auto& length = plan.config.batch.sequence_len;
  const auto d = plan::requested_degrees(plan.config);
  const auto tokens = checked_multiply(plan.batch.micro_batch_size,
                                       ceil_div(sequence_tokens(plan).value_or(1), d.cp));
  Report("CP402", length.given() ? length.span : file_of(plan),
         fmt::format("one fp32 copy of the logits takes {} on every rank", human_bytes({*bytes})))
      .why(fmt::format(
          "{} tokens of a rank * {} words * 4 bytes = {}, and a loss holds two or three "
          "copies: they, not attention, set the peak",
          tokens.value_or(0), vocabulary, with_thousands(*bytes)))
      .help(is_megatron(plan)
                ? "use a larger context_parallel_size or tensor_model_parallel_size"
                : "use a loss that never holds them whole: plugins with "
                  "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin or Liger's fused "
                  "linear cross-entropy")
      .help("or more context-parallel ranks")
      .see(plan::context_parallel_setting(plan.config))
      .see(plan.config.model.vocab_size)
      .to(findings);
}

}  // namespace

void check_memory(const Plan& plan, Diagnostics& findings) {
  check_logits(plan, findings);
}

}  // namespace cpplan::rules
