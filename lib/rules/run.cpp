// How many rows a step takes and how many steps a run: what relates a key to the data or the world.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plan/batch.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using diag::finding;
using plan::Plan;

bool streams(const Plan& plan) {
  return plan.config.batch.streaming.value_or(false) ||
         plan.config.features.pretraining_dataset.value_or(false);
}

/// Of one data-parallel rank the numbers are config's; here the world makes them overflow.
void check_batch_size(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.batch;
  const bool of_rank =
      checked_product(b.micro_batch_size, b.gradient_accumulation_steps, b.sequence_len)
          .has_value();
  if (b.tokens_per_step > 0 || !of_rank) return;
  const auto& c = plan.config.batch;
  findings.push_back(
      finding("CP321",
              place_of(c.batch_size.span,
                       place_of(c.micro_batch_size.span, c.gradient_accumulation_steps.span)),
              fmt::format("the tokens of a step over {} data-parallel ranks do not fit 64 bits",
                          b.effective_world_size),
              {.why = "they are micro_batch_size * gradient_accumulation_steps * DP * sequence_len",
               .help = {"use a smaller micro_batch_size, for example 1"}}));
}

void check_sequence_length(const Plan& plan, Diagnostics& findings) {
  const auto& length = plan.config.batch.sequence_len;
  if (!length.given() || *length <= plan::longest_sequence) return;
  findings.push_back(finding(
      "CP321", length.span, fmt::format("{} {} is too long to be planned", length.key, *length),
      {.why = "the causal pairs of a sequence of more than 2^30 tokens do not fit 64 bits",
       .help = {fmt::format("use {}: {} or less", length.key, plan::longest_sequence)}}));
}

void check_wanted_batch(const Plan& plan, Diagnostics& findings) {
  const auto& g = plan.global_batch;
  if (!g || g->gradient_accumulation_steps) return;
  const auto& b = plan.batch;
  std::vector<std::string> near;
  for (const Index n : g->nearest) near.push_back(fmt::format("--global-batch {}", n));
  const auto& micro = plan.config.batch.micro_batch_size;
  findings.push_back(finding(
      "CP320", place_of(micro.span, file_of(plan)),
      fmt::format(
          "a global batch of {} cannot be had: {} is not divisible by micro {} * DP {} = {}",
          g->wanted, g->wanted, b.micro_batch_size, b.effective_world_size,
          b.micro_batch_size * b.effective_world_size),
      {.why = "a step is a whole number of micro-batches on every data-parallel rank",
       .help = {fmt::format("use {}", join_words(near, "or"))}}));
}

void check_streaming(const Plan& plan, Diagnostics& findings) {
  if (!streams(plan)) return;
  const auto& b = plan.config.batch;
  const auto& f = plan.config.features;
  const auto stream = b.streaming.value_or(false) ? b.streaming.span : f.pretraining_dataset.span;
  if (b.max_steps.value_or(0) == 0)
    findings.push_back(finding("CP333", stream, "a streamed dataset needs max_steps",
                               {.why = "a stream has no length that epochs could count",
                                .help = {"add max_steps, for example max_steps: 1000"}}));
  if (b.val_set_size.value_or(0) > 0)
    findings.push_back(finding(
        "CP337", b.val_set_size.span,
        fmt::format("{} {} is not supported with streaming", b.val_set_size.key, *b.val_set_size),
        {.why = "a stream cannot be split before it is read",
         .help = {"use val_set_size: 0, and test_datasets for validation"},
         .related = {{"the dataset is streamed here", stream}}}));
}

/// Shares of 1 and below 0 are config's; here the rows say that nothing is left.
void check_validation_split(const Plan& plan, const plan::Steps& steps, Diagnostics& findings) {
  const auto& size = plan.config.batch.val_set_size;
  const bool split_failed = steps.rows && !steps.train_rows;
  if (!split_failed || !size.given() || *size < 0 || *size == 1) return;
  findings.push_back(finding(
      "CP336", size.span,
      fmt::format("{} {} leaves no row of {} to train on", size.key, *size, *steps.rows),
      {.why = "a value above 1 is a number of rows",
       .help = {fmt::format("use {}: 0.05, or fewer than {} rows", size.key, *steps.rows)}}));
}

void check_step_count(const Plan& plan, Diagnostics& findings) {
  const auto& steps = plan.steps;
  if (!steps.total_num_steps || *steps.total_num_steps >= 1 || steps.num_epochs <= 0) return;
  findings.push_back(
      finding("CP330", file_of(plan), fmt::format("the run takes no step: {}", steps.formula),
              {.why = "there is no row to train on",
               .help = {"give a dataset with at least one row after the validation split"}}));
}

/// "16*2000/1000 = 32 epochs", of packed rows the epochs alone.
std::string epochs_text(const Plan& plan, Index most, double epochs) {
  const auto& steps = plan.steps;
  if (steps.path != "plain") return fmt::format("{:.4g} epochs", epochs);
  return fmt::format("{}*{}/{} = {:.4g} epochs", most, plan.batch.batch_size, *steps.train_rows,
                     epochs);
}

/// Passes over the data that max_steps make; none where they cannot be told.
std::optional<double> epochs_of(const Plan& plan, Index most) {
  const auto& steps = plan.steps;
  if (steps.path.starts_with("packing"))
    return steps.epochs.value_or(static_cast<double>(most) * steps.num_epochs /
                                 static_cast<double>(std::max<Index>(1, *steps.total_num_steps)));
  if (steps.path != "plain" || !steps.train_rows || *steps.train_rows < 1) return std::nullopt;
  return static_cast<double>(most) * static_cast<double>(plan.batch.batch_size) /
         static_cast<double>(*steps.train_rows);
}

void check_max_steps(const Plan& plan, Diagnostics& findings) {
  const auto& steps = plan.steps;
  const auto& most = plan.config.batch.max_steps;
  if (!most.given() || !steps.total_num_steps || *most <= *steps.total_num_steps) return;
  const auto epochs = epochs_of(plan, *most);
  if (!epochs) return;
  report("CP334", most,
         fmt::format("{} {} exceeds the {} steps of num_epochs {}: {} will be run", most.key, *most,
                     *steps.total_num_steps, steps.num_epochs, epochs_text(plan, *most, *epochs)))
      .why(
          "the steps of the epochs are what is logged and warmed up over, but the trainer loops "
          "over the data until max_steps")
      .help(fmt::format("use {}: {}, or num_epochs: {:.3g}", most.key, *steps.total_num_steps,
                        *epochs))
      .see(plan.config.batch.num_epochs)
      .to(findings);
}

void check_warmup(const Plan& plan, Diagnostics& findings) {
  const auto& steps = plan.steps;
  const auto& o = plan.config.optimizer;
  const bool longer = steps.warmup_steps && steps.trainer_max_steps &&
                      *steps.warmup_steps >= *steps.trainer_max_steps &&
                      *steps.trainer_max_steps >= 1;
  if (!longer) return;
  const auto& place = o.warmup_steps.given() ? o.warmup_steps.span : o.warmup_ratio.span;
  findings.push_back(
      finding("CP331", place_of(place, file_of(plan)),
              fmt::format("{} warm-up steps do not end within the {} steps of the run",
                          *steps.warmup_steps, *steps.trainer_max_steps),
              {.why = "the learning rate never reaches what the config asks for",
               .help = {fmt::format("use warmup_steps: {}", *steps.trainer_max_steps / 10)}}));
}

/// excess_length_strategy: raise is a check of the data, and this data does not pass it.
void check_too_long_rows(const Plan& plan, Diagnostics& findings) {
  const auto& strategy = plan.config.batch.excess_length_strategy;
  const Index too_long = plan.steps.rows_too_long.value_or(0);
  if (strategy.value_or("drop") != "raise" || too_long == 0) return;
  findings.push_back(finding(
      "CP348", strategy.span,
      fmt::format("{} of {} rows are longer than sequence_len {}", too_long,
                  plan.steps.rows.value_or(too_long), plan.batch.sequence_len),
      {.why = "excess_length_strategy: raise ends the run at the first of them",
       .help = {"use excess_length_strategy: drop, or truncate", "or a greater sequence_len"}}));
}

void check_evaluation_steps(const Plan& plan, Diagnostics& findings) {
  const auto& eval_steps = plan.steps.eval_num_steps;
  if (!eval_steps || *eval_steps >= 1) return;
  const auto& batch = plan.config.batch;
  findings.push_back(
      finding("CP349", place_of(batch.eval_sample_packing.span, batch.sample_packing.span),
              "the packed validation rows make no whole step",
              {.why = "axolotl stops: the split is too small for sample_packing",
               .help = {"use eval_sample_packing: false", "or a greater val_set_size"}}));
}

}  // namespace

void check_run(const Plan& plan, Diagnostics& findings) {
  check_batch_size(plan, findings);
  check_sequence_length(plan, findings);
  check_wanted_batch(plan, findings);
  check_streaming(plan, findings);
  check_validation_split(plan, plan.steps, findings);
  check_step_count(plan, findings);
  check_max_steps(plan, findings);
  check_warmup(plan, findings);
  check_too_long_rows(plan, findings);
  check_evaluation_steps(plan, findings);
}

}  // namespace cpplan::rules
