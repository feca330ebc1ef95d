#include "plan/as_version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "plan/step_count.hpp"

namespace cpplan::plan {
namespace {

/// Ranks that the version takes for data-parallel, how it got there, and what it multiplies back.
struct Arithmetic {
  Index ranks = 1;
  std::string ranks_formula;
  StepFactors factors;
};

Arithmetic arithmetic_of(Version version, const Plan& plan) {
  const auto& d = plan.layout.dims;
  const Index world = plan.world.size, cp = d.cp, tp = d.tp;
  const auto at_least_one = [](Index ranks) { return std::max<Index>(1, ranks); };
  switch (version) {
    case Version::axolotl_0_14:
      return {world, fmt::format("{}", world), {cp, tp}};
    case Version::axolotl_3444:
      return {at_least_one(world / cp), fmt::format("({} // {})", world, cp), {1, tp}};
    case Version::axolotl_0_15:
      return {at_least_one(world / cp / tp), fmt::format("({} // {} // {})", world, cp, tp), {}};
    case Version::megatron:
      return {d.dp, fmt::format("({} / ({} * {} * {}))", world, tp, cp, d.pp), {}};
  }
  return {};
}

/// micro * accumulation, or batch_size as the file has it: what every version multiplies by ranks.
std::optional<Index> batch_of_rank(const Plan& plan) {
  const auto& b = plan.config.batch;
  if (plan.config.dialect == config::Dialect::axolotl && b.batch_size.value_or(0) >= 1)
    return b.batch_size.value;
  return checked_multiply(plan.batch.micro_batch_size, plan.batch.gradient_accumulation_steps);
}

void compute_batch(const Arithmetic& a, const Plan& plan, AsVersion& as) {
  const auto of_rank = batch_of_rank(plan);
  const auto size = of_rank ? checked_multiply(*of_rank, a.ranks) : std::nullopt;
  as.batch_size = size.value_or(0);
  if (size) as.batch_formula = fmt::format("{} * {} = {}", *of_rank, a.ranks_formula, *size);
}

std::string factors_text(StepFactors f) {
  std::string text;
  if (f.context > 1) text += fmt::format(" * CP {}", f.context);
  if (f.tensor > 1) text += fmt::format(" * TP {}", f.tensor);
  return text;
}

void compute_plain(const Arithmetic& a, const Plan& plan, AsVersion& as) {
  if (!plan.steps.train_rows) return;
  const Index rows = *plan.steps.train_rows;
  const double epochs = plan.steps.num_epochs;
  as.total_num_steps = plain_value(rows, epochs, as.batch_size, a.factors);
  as.steps_formula = fmt::format("ceil({} rows * {} epochs{} / {}) = {}", rows, epochs,
                                 factors_text(a.factors), as.batch_size, *as.total_num_steps);
}

void compute_estimated(const Arithmetic& a, const Plan& plan, AsVersion& as) {
  if (!plan.steps.total_num_tokens) return;
  const PackingEstimate e{*plan.steps.total_num_tokens,
                          plan.config.batch.sample_packing_eff_est.value_or(1),
                          plan.batch.sequence_len};
  const double epochs = plan.steps.num_epochs;
  as.total_num_steps = estimated_value(e, epochs, as.batch_size, a.factors);
  as.steps_formula = fmt::format("(floor(0.99 * {} tokens / {} / {} // {}) - 1) * {} epochs{} = {}",
                                 e.tokens, e.efficiency, e.sequence_len, as.batch_size, epochs,
                                 factors_text(a.factors), *as.total_num_steps);
}

void compute_measured(const Arithmetic& a, const Plan& plan, AsVersion& as) {
  if (!plan.steps.packing || plan.steps.packing->batches < 1) return;
  const Index batches = plan.steps.packing->batches, micro = plan.batch.micro_batch_size;
  const bool drops = plan.config.batch.dataloader_drop_last.value_or(false);
  const Index loader = data_loader_len(batches, micro, as.batch_size);
  const double epochs = plan.steps.num_epochs;
  as.total_num_steps =
      measured_value(loader, epochs, drops ? LastBatch::drop : LastBatch::keep, a.factors);
  as.steps_formula =
      fmt::format("max(1, {} * {} // {}) = {}; floor({} * {} epochs{}){} = {}", batches, micro,
                  as.batch_size, loader, loader, epochs, factors_text(a.factors),
                  drops ? fmt::format(" - ceil({})", epochs) : "", *as.total_num_steps);
}

/// Whole batches of the samples of all epochs: Megatron throws a rest away.
void compute_megatron(const Plan& plan, AsVersion& as) {
  if (plan.config.dialect == config::Dialect::megatron) {
    if (plan.steps.total_num_steps)
      as.total_num_steps = static_cast<double>(*plan.steps.total_num_steps);
    as.steps_formula = plan.steps.formula;
    return;
  }
  if (!plan.steps.train_rows) return;
  const double samples =
      std::floor(static_cast<double>(*plan.steps.train_rows) * plan.steps.num_epochs);
  as.total_num_steps = std::floor(samples / static_cast<double>(as.batch_size));
  as.steps_formula =
      fmt::format("{} samples // {} = {}", samples, as.batch_size, *as.total_num_steps);
}

void compute_steps(Version version, const Arithmetic& a, const Plan& plan, AsVersion& as) {
  if (as.batch_size < 1) return;
  if (version == Version::megatron) return compute_megatron(plan, as);
  switch (step_path(plan.config)) {
    case StepPath::plain:
    case StepPath::megatron:
      return compute_plain(a, plan, as);
    case StepPath::estimate:
      return compute_estimated(a, plan, as);
    case StepPath::measured:
      return compute_measured(a, plan, as);
    case StepPath::streaming:
    case StepPath::unbounded:
      if (plan.steps.trainer_max_steps)
        as.total_num_steps = static_cast<double>(*plan.steps.trainer_max_steps);
      as.steps_formula = plan.steps.formula;
  }
}

/// Of every version, as of this plan; preference training counts on beyond it.
void apply_max_steps(const Plan& plan, AsVersion& as) {
  const auto& most = plan.config.batch.max_steps;
  if (!as.total_num_steps || most.value_or(0) < 1 || plan.config.features.rl.given()) return;
  if (static_cast<double>(*most) >= *as.total_num_steps) return;
  as.total_num_steps = static_cast<double>(*most);
  as.steps_formula += fmt::format("; max_steps {}", *most);
}

/// The trainer gives each data-parallel rank its rows whatever the count says, so the passes go by
/// the right rows of a step.
std::optional<double> epochs_of(double steps, const Steps& right) {
  if (!right.epochs || right.trainer_max_steps.value_or(0) < 1 || steps < 0) return std::nullopt;
  return *right.epochs * steps / static_cast<double>(*right.trainer_max_steps);
}

/// The epochs that an estimated count makes where no lengths were given: by the estimate itself.
std::optional<double> estimated_epochs(double steps, const Plan& plan) {
  const auto& s = plan.steps;
  const double estimate = plan.config.batch.sample_packing_eff_est.value_or(0);
  if (!s.total_num_tokens || *s.total_num_tokens < 1 || !(estimate > 0) || steps < 0)
    return std::nullopt;
  const double tokens_of_step = static_cast<double>(plan.batch.batch_size) * estimate *
                                static_cast<double>(plan.batch.sequence_len);
  return steps * tokens_of_step / static_cast<double>(*s.total_num_tokens);
}

std::string batch_verdict(const AsVersion& as, const Plan& plan) {
  const Index right = plan.batch.batch_size;
  if (as.batch_size == right) return fmt::format("batch_size {} is right", right);
  return fmt::format("batch_size {} is {:.4g} times the {} rows that a step takes", as.batch_size,
                     static_cast<double>(as.batch_size) / static_cast<double>(right), right);
}

std::string steps_verdict(const AsVersion& as) {
  if (!as.total_num_steps) return "the steps cannot be counted without rows, lengths or tokens";
  if (!as.right_steps) return fmt::format("{} steps", *as.total_num_steps);
  const double right = static_cast<double>(*as.right_steps);
  if (*as.total_num_steps == right) return fmt::format("{} steps are right", *as.total_num_steps);
  return fmt::format("{} steps differ from the right {} by {:+.4g}", *as.total_num_steps, right,
                     *as.total_num_steps - right);
}

}  // namespace

AsVersion compute_as(Version version, const Plan& plan) {
  AsVersion as;
  as.version = to_string(version);
  const Arithmetic arithmetic = arithmetic_of(version, plan);
  compute_batch(arithmetic, plan, as);
  compute_steps(version, arithmetic, plan, as);
  apply_max_steps(plan, as);
  as.right_steps = plan.steps.total_num_steps;
  if (as.total_num_steps && as.right_steps.value_or(0) > 0)
    as.step_ratio = *as.total_num_steps / static_cast<double>(*as.right_steps);
  if (as.total_num_steps) {
    as.epochs = epochs_of(*as.total_num_steps, plan.steps);
    if (!as.epochs) as.epochs = estimated_epochs(*as.total_num_steps, plan);
  }
  as.verdict = fmt::format("{}; {}", batch_verdict(as, plan), steps_verdict(as));
  if (as.epochs)
    as.verdict +=
        fmt::format("; a run of them makes {:.4g} of {} epochs", *as.epochs, plan.steps.num_epochs);
  return as;
}

}  // namespace cpplan::plan
