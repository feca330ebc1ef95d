// Several documents in one row: what packing asks of attention, evaluation and its own settings.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using config::Setting;
using diag::Diagnostics;
using diag::Severity;
using plan::Plan;

/// Kernels that take the ends of documents (axolotl, utils/schemas/enums.py).
bool attends_by_document(const config::FeatureSettings& f) {
  if (f.flash_attention.value_or(false) || f.flex_attention.value_or(false) ||
      f.xformers_attention.value_or(false) || f.sage_attention.value_or(false))
    return true;
  const std::string name = f.attn_implementation.value_or("");
  constexpr std::string_view known[] = {"flash_attention_2", "flash_attention_3", "flex_attention",
                                        "xformers", "sage"};
  return std::ranges::count(known, name) > 0 || name.find("flash-attn") != name.npos;
}

void check_attention(const Plan& plan, Diagnostics& findings) {
  const auto& packing = plan.config.batch.sample_packing;
  const auto& f = plan.config.features;
  if (attends_by_document(f)) return;
  const auto& implementation = f.attn_implementation;
  report("CP346", packing,
         implementation.given()
             ? fmt::format("{} with attn_implementation {}, which takes no ends of documents",
                           packing.key, *implementation)
             : fmt::format("{} without attn_implementation", packing.key))
      .why(
          "a step then takes micro_batch_size rows of sequence_len in place of one long row, and "
          "some kernels attend from one document to the next")
      .help("use attn_implementation: flash_attention_2")
      .see(implementation)
      .to(findings);
}

/// The count for evaluation runs first, over tokens that nobody has counted yet.
void check_evaluation_estimate(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.config.batch;
  const bool evaluates =
      b.val_set_size.value_or(0) > 0 || plan.config.features.test_datasets.value_or(false);
  const bool estimates = b.sample_packing_eff_est.value_or(0) != 0;
  if (!evaluates || !estimates || !b.eval_sample_packing.value_or(true)) return;
  if (b.total_num_tokens.value_or(0) != 0) return;
  report("CP393", b.sample_packing_eff_est,
         fmt::format("{} with a packed evaluation needs total_num_tokens",
                     b.sample_packing_eff_est.key))
      .why(
          "axolotl counts the evaluation first, multiplies 0.99 by the missing count and stops "
          "with "
          "a TypeError")
      .help(
          fmt::format("use eval_sample_packing: false, or remove {}", b.sample_packing_eff_est.key))
      .see(b.val_set_size)
      .to(findings);
}

void check_evaluation_table(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.config.batch;
  if (b.eval_table_size.value_or(0) == 0 || !b.eval_sample_packing.value_or(true)) return;
  report("CP394", b.eval_table_size,
         fmt::format("{} needs rows that are not packed for evaluation", b.eval_table_size.key))
      .why("the table shows single answers; axolotl stops")
      .help("use eval_sample_packing: false")
      .see(b.sample_packing)
      .to(findings);
}

void check_padding(const Plan& plan, Diagnostics& findings) {
  const auto& pad = plan.config.batch.pad_to_sequence_len;
  if (pad.value_or(true)) return;
  report("CP395", pad, fmt::format("{} is off while samples are packed", pad.key))
      .why("packed rows then differ in length from step to step, and memory fragments")
      .help(fmt::format("use {}: true, or remove it: with packing that is the default", pad.key))
      .see(plan.config.batch.sample_packing)
      .as(Severity::warning)
      .to(findings);
}

/// Of so little data the estimate gives no number of steps: the framework logs it all the same, and
/// its trainer counts epochs.
void check_estimate(const Plan& plan, Diagnostics& findings) {
  const auto& steps = plan.steps;
  if (steps.packing || !steps.upstream_value || *steps.upstream_value > 0) return;
  report("CP330", plan.config.batch.sample_packing,
         fmt::format("the framework estimates {} steps", *steps.upstream_value))
      .why("the tokens fill less than about two global batches; its trainer falls back to epochs")
      .help("measure the steps with --lengths FILE, or set max_steps")
      .as(Severity::warning)
      .to(findings);
}

void check_full_batch(const Plan& plan, Diagnostics& findings) {
  const auto& packing = plan.steps.packing;
  if (!packing || packing->batches > 0) return;
  const Index micro = plan.batch.micro_batch_size;
  report("CP330", plan.config.batch.micro_batch_size,
         fmt::format("{} packed rows do not fill one micro-batch of {}", packing->bins, micro))
      .why("a micro-batch that is not full is dropped, so there is nothing to train on")
      .help(fmt::format("use micro_batch_size: {}, or more data",
                        std::max<Index>(1, std::min(micro, packing->bins))))
      .see(plan.config.batch.sample_packing)
      .to(findings);
}

void check_several_streams(const Plan& plan, Diagnostics& findings) {
  const bool streams = plan.config.batch.streaming.value_or(false);
  if (!streams || plan.config.datasets.size() < 2) return;
  report("CP396", plan.config.batch.sample_packing,
         fmt::format("{} datasets are streamed and packed", plan.config.datasets.size()))
      .why("axolotl packs a stream of one dataset alone")
      .help("use sample_packing: false, or keep one dataset")
      .see(plan.config.batch.streaming)
      .to(findings);
}

/// First fit looks at groups and bins; next fit, which packs in order, at neither.
void check_sequential(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.config.batch;
  if (!b.sample_packing_sequentially.value_or(false)) return;
  for (const Setting<Index>* setting : {&b.sample_packing_bin_size, &b.sample_packing_group_size})
    if (setting->given())
      report("CP116", *setting, fmt::format("{} has no effect on sequential packing", setting->key))
          .why("rows are put into one open bin in their order, without groups")
          .help(fmt::format("remove {}, or {}", setting->key, b.sample_packing_sequentially.key))
          .see(b.sample_packing_sequentially)
          .as(Severity::warning)
          .to(findings);
}

/// Flattening joins the rows of a micro-batch: pointless for one row, and packing's own work.
void check_flattening(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.config.batch;
  const auto& flattening = b.batch_flattening;
  if (!flattening.value_or(false)) return;
  if (b.sample_packing.value_or(false))
    report("CP115", flattening,
           fmt::format("{} and {} exclude each other", flattening.key, b.sample_packing.key))
        .why("both join rows into one")
        .help(fmt::format("remove {}", flattening.key))
        .see(b.sample_packing)
        .to(findings);
  else if (!attends_by_document(plan.config.features))
    report("CP346", flattening, fmt::format("{} needs attention by document", flattening.key))
        .why("the rows are joined, and attention would cross from one to the next; axolotl stops")
        .help("use attn_implementation: flash_attention_2")
        .see(plan.config.features.attn_implementation)
        .as(Severity::error)
        .to(findings);
  else if (b.micro_batch_size.value_or(1) == 1)
    report("CP116", flattening, fmt::format("{} has no effect on a single row", flattening.key))
        .why("it joins the rows of a micro-batch, and micro_batch_size is 1")
        .help(fmt::format("remove {}, or use micro_batch_size: 2", flattening.key))
        .see(b.micro_batch_size)
        .as(Severity::warning)
        .to(findings);
}

}  // namespace

void check_packing(const Plan& plan, Diagnostics& findings) {
  if (is_megatron(plan)) return;
  check_flattening(plan, findings);
  if (!plan.config.batch.sample_packing.value_or(false)) return;
  check_attention(plan, findings);
  check_evaluation_estimate(plan, findings);
  check_evaluation_table(plan, findings);
  check_padding(plan, findings);
  check_estimate(plan, findings);
  check_full_batch(plan, findings);
  check_several_streams(plan, findings);
  check_sequential(plan, findings);
}

}  // namespace cpplan::rules
