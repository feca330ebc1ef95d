// When a run warms up, saves and evaluates: settings that say the same twice, or do not fit each
// other.
#include <fmt/format.h>

#include <cmath>

#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using config::Setting;
using diag::Diagnostics;
using diag::Severity;
using plan::Plan;

/// Given, and not 0: axolotl asks for truth, so that a 0 counts as unset.
template <class T>
bool counts(const Setting<T>& setting) {
  return setting.given() && *setting != T{};
}

/// Two keys that say the same: axolotl stops.
template <class A, class B>
void check_exclusive(const Setting<A>& kept, const Setting<B>& other, Diagnostics& findings) {
  if (!counts(kept) || !counts(other)) return;
  Report("CP115", place_of(other.key_span, other.span),
         fmt::format("{} and {} exclude each other", kept.key, other.key))
      .why("both say the same, and the framework stops where they stand together")
      .help(fmt::format("remove {} or {}", other.key, kept.key))
      .see(kept)
      .to(findings);
}

/// A strategy that contradicts the number of times a thing is done.
template <class T>
void check_strategy(const Setting<std::string>& strategy, const Setting<T>& times,
                    Diagnostics& findings) {
  if (!strategy.given() || !counts(times) || *strategy == "steps" || (*strategy).empty()) return;
  if (*strategy == "false")
    return;  // `no` without quotes: not a text, and axolotl takes it as unset
  report("CP390", strategy,
         fmt::format("{} \"{}\" contradicts {}", strategy.key, *strategy, times.key))
      .why("that key means a number of steps, and axolotl stops at any other strategy")
      .help(fmt::format("remove {}, or write {}: steps", strategy.key, strategy.key))
      .help(fmt::format("or remove {}", times.key))
      .see(times)
      .to(findings);
}

bool evaluates_without_split(const config::BatchSettings& b) {
  const bool no_split = b.val_set_size.given() && *b.val_set_size == 0;
  const std::string strategy = b.eval_strategy.value_or("");
  const bool asked = counts(b.eval_steps) || !strategy.empty();
  return no_split && asked && strategy != "no" && strategy != "false";
}

/// axolotl stops where an evaluation is asked for and nothing is there to evaluate on.
void check_evaluation_data(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.config.batch;
  if (!evaluates_without_split(b) || plan.config.features.test_datasets.value_or(false)) return;
  const bool by_steps = counts(b.eval_steps);
  const std::string& key = by_steps ? b.eval_steps.key : b.eval_strategy.key;
  Report("CP391", by_steps ? b.eval_steps.span : b.eval_strategy.span,
         fmt::format("{} asks for evaluations, but {} is 0", key, b.val_set_size.key))
      .why("there are no rows to evaluate on")
      .help(fmt::format("use {}: 0.05, or remove {}", b.val_set_size.key, key))
      .see(b.val_set_size)
      .to(findings);
}

void check_test_datasets(const Plan& plan, Diagnostics& findings) {
  const auto& tests = plan.config.features.test_datasets;
  const auto& size = plan.config.batch.val_set_size;
  if (!tests.value_or(false) || !counts(size)) return;
  report("CP115", size, fmt::format("{} and {} exclude each other", size.key, tests.key))
      .why("both give the rows to evaluate on, and axolotl stops")
      .help(fmt::format("use {}: 0, or remove {}", size.key, tests.key))
      .see(tests)
      .to(findings);
}

/// Early stopping compares evaluations with checkpoints, which therefore have to coincide.
void check_early_stopping(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.config.batch;
  const auto& patience = b.early_stopping_patience;
  if (!counts(patience)) return;
  const bool both = counts(b.save_steps) && counts(b.eval_steps);
  if (both && std::fmod(*b.save_steps, *b.eval_steps) == 0) return;
  report("CP392", patience,
         both ? fmt::format("{} needs {} {} to be a multiple of {} {}", patience.key,
                            b.save_steps.key, *b.save_steps, b.eval_steps.key, *b.eval_steps)
              : fmt::format("{} needs save_steps and eval_steps", patience.key))
      .why("the best checkpoint is one that was evaluated; axolotl stops otherwise")
      .help(
          both
              ? fmt::format("use {}: {}", b.save_steps.key, *b.eval_steps)
              : "add save_steps: 100 and eval_steps: 100, in place of the keys that count by epoch")
      .see(b.save_steps)
      .see(b.eval_steps)
      .to(findings);
}

void check_eval_batch(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.config.batch;
  const bool differ = counts(b.eval_batch_size) && counts(b.micro_batch_size) &&
                      *b.eval_batch_size != *b.micro_batch_size;
  if (!differ) return;
  report("CP335", b.eval_batch_size,
         fmt::format("{} {} differs from {} {}", b.eval_batch_size.key, *b.eval_batch_size,
                     b.micro_batch_size.key, *b.micro_batch_size))
      .why("the memory that training fits in says nothing of evaluation then, and fragments")
      .help(fmt::format("use {}: {}, or leave it out", b.eval_batch_size.key, *b.micro_batch_size))
      .see(b.micro_batch_size)
      .as(Severity::warning)
      .to(findings);
}

void check_run_time_batch(const Plan& plan, Diagnostics& findings) {
  const auto& finds = plan.config.batch.auto_find_batch_size;
  if (!finds.value_or(false)) return;
  report("CP399", finds, "the batch size may shrink while the run starts")
      .why(fmt::format(
          "{} halves micro_batch_size until it fits, so that steps, warm-up and batch of "
          "this plan are those of the first try",
          finds.key))
      .help(fmt::format("use {}: false", finds.key))
      .to(findings);
}

void check_axolotl_schedule(const Plan& plan, Diagnostics& findings) {
  const auto& b = plan.config.batch;
  const auto& o = plan.config.optimizer;
  check_exclusive(o.warmup_steps, o.warmup_ratio, findings);
  check_exclusive(b.save_steps, b.saves_per_epoch, findings);
  check_exclusive(b.eval_steps, b.evals_per_epoch, findings);
  check_strategy(b.save_strategy, b.saves_per_epoch, findings);
  check_strategy(b.save_strategy, b.save_steps, findings);
  check_strategy(b.eval_strategy, b.evals_per_epoch, findings);
  check_strategy(b.eval_strategy, b.eval_steps, findings);
  check_evaluation_data(plan, findings);
  check_test_datasets(plan, findings);
  check_early_stopping(plan, findings);
  check_eval_batch(plan, findings);
  check_run_time_batch(plan, findings);
}

/// Iterations and samples are two units; all of a run's lengths have the same.
void check_unit(const Plan& plan, const Setting<Index>& iterations, const Setting<Index>& samples,
                Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const bool by_samples = counts(m.train_samples);
  const auto& wrong = by_samples ? iterations : samples;
  const auto& right = by_samples ? samples : iterations;
  if (!counts(wrong) || (!by_samples && !counts(m.train_iters))) return;
  report("CP332", wrong,
         fmt::format("{} counts {}, but the run is counted in {}", wrong.key,
                     by_samples ? "iterations" : "samples", by_samples ? "samples" : "iterations"))
      .why("Megatron takes lengths of decay and warm-up in the unit of the run alone")
      .help(
          fmt::format("remove it, or give its length in {}", by_samples ? "samples" : "iterations"))
      .see(by_samples ? m.train_samples : m.train_iters)
      .see(right)
      .to(findings);
}

void check_megatron_rate(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& rate = plan.config.optimizer.learning_rate;
  if (m.min_lr.given() && rate.given() && *m.min_lr > *rate)
    report("CP397", m.min_lr,
           fmt::format("{} {} is above {} {}", m.min_lr.key, *m.min_lr, rate.key, *rate))
        .why("the rate decays down to it")
        .help(fmt::format("use {}: {}", m.min_lr.key, *rate / 10))
        .see(rate)
        .to(findings);
}

void check_retained(const Plan& plan, Diagnostics& findings) {
  const auto& retain = plan.config.megatron.save_retain_interval;
  const auto& save = plan.config.megatron.save_interval;
  if (!counts(retain) || !counts(save) || *save < 1 || *retain % *save == 0) return;
  report("CP398", retain,
         fmt::format("{} {} is no multiple of {} {}", retain.key, *retain, save.key, *save))
      .why("only what was saved can be kept")
      .help(fmt::format("use {}", choices(retain.key, nearest_multiples(*save, *retain))))
      .see(save)
      .to(findings);
}

void check_megatron(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  check_exclusive(m.train_iters, m.train_samples, findings);
  check_unit(plan, m.lr_decay_iters, m.lr_decay_samples, findings);
  check_unit(plan, m.lr_warmup_iters, m.lr_warmup_samples, findings);
  check_exclusive(m.lr_warmup_fraction, m.lr_warmup_iters, findings);
  check_exclusive(m.lr_warmup_fraction, m.lr_warmup_samples, findings);
  check_megatron_rate(plan, findings);
  check_retained(plan, findings);
}

}  // namespace

void check_schedule(const Plan& plan, Diagnostics& findings) {
  if (is_megatron(plan))
    check_megatron(plan, findings);
  else
    check_axolotl_schedule(plan, findings);
}

}  // namespace cpplan::rules
