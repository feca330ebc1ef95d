#include "report/explain_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "plan/model_flops.hpp"
#include "report/config_json.hpp"
#include "report/table.hpp"

namespace cpplan::report {
namespace {

void add_world(const plan::Plan& plan, Table& table) {
  const auto& dims = plan.layout.dims;
  table.add({"world_size", fmt::format("{} from {}", plan.world.size, plan.world.source)});
  table.add(
      {"effective_world_size", fmt::format("{} / (tp {} * cp {} * pp {}) = {}", plan.world.size,
                                           dims.tp, dims.cp, dims.pp, dims.dp)});
}

bool names(const std::vector<plan::Formula>& formulas, std::string_view name) {
  for (const auto& formula : formulas)
    if (formula.name == name) return true;
  return false;
}

void add_batch(const plan::Plan& plan, Table& table) {
  const plan::Batch& b = plan.batch;
  if (!names(plan.steps.formulas, "batch_size"))
    table.add({"batch_size",
               fmt::format("micro {} * accumulation {} * dp {} = {}", b.micro_batch_size,
                           b.gradient_accumulation_steps, b.effective_world_size, b.batch_size)});
  table.add({"tokens_per_step", fmt::format("batch {} * sequence_len {} = {}", b.batch_size,
                                            b.sequence_len, b.tokens_per_step)});
}

void add_steps(const plan::Plan& plan, Table& table) {
  for (const auto& formula : plan.steps.formulas) table.add({formula.name, formula.text});
  if (!names(plan.steps.formulas, "total_num_steps") && !plan.steps.formula.empty())
    table.add({"total_num_steps", plan.steps.formula});
}

void add_learning_rates(const plan::Plan& plan, Table& table) {
  for (const auto& point : plan.steps.learning_rates)
    table.add(
        {"learning rate, " + point.at,
         fmt::format("{}(step {} of {}, warm-up {}, peak {}) = {:.6g}", plan.steps.lr_scheduler,
                     point.step, plan.steps.trainer_max_steps.value_or(0),
                     plan.steps.warmup_steps.value_or(0), plan.steps.learning_rate, point.value)});
}

void add_memory(const plan::Plan& plan, Table& table) {
  if (!plan.framework_memory) return;
  for (const auto& term : plan.framework_memory->terms)
    table.add({"memory, " + term.name,
               fmt::format("{} = {} bytes", term.formula, with_thousands(term.bytes.count))});
}

void add_flops(const plan::EngineFlops& f, Table& table) {
  table.add({"FLOPs of a rank, counted",
             fmt::format("{:.4g} on rank {} (the busiest), {:.4g} on average, every op of a step",
                         static_cast<double>(f.busiest.count), f.busiest_rank, f.mean)});
  table.add({"FLOPs of a rank, by formula",
             fmt::format("({}) / ranks = {:.4g}", plan::flops_convention, f.formula)});
}

void add_time(const plan::StepTime& t, Table& table) {
  table.add({"step time", fmt::format("compute {:.4g} + bubble {:.4g} + imbalance {:.4g} + exposed "
                                      "communication {:.4g} = {:.4g} s: the step's trace on {}",
                                      t.compute_seconds, t.bubble_seconds, t.imbalance_seconds,
                                      t.exposed_seconds, t.seconds, t.hardware)});
  table.add({"MFU", fmt::format("{:.4g} FLOPs by formula / {:.4g} s / ranks / peak = {:.4f}",
                                t.model_flops, t.seconds, t.mfu)});
  table.add({"HFU", fmt::format("{:.4g} FLOPs executed / {:.4g} s / ranks / peak = {:.4f}",
                                t.executed_flops, t.seconds, t.hfu)});
}

std::string origins_text(const plan::Plan& plan) {
  Table table({{"setting"}, {"value"}, {"from"}});
  for (const Origin& origin : origins(plan)) table.add({origin.name, origin.value, origin.from});
  return table.text();
}

}  // namespace

std::string explain_text(const plan::Plan& plan) {
  Table table({{""}, {""}});
  add_world(plan, table);
  add_batch(plan, table);
  add_steps(plan, table);
  add_learning_rates(plan, table);
  add_memory(plan, table);
  if (plan.engine_flops) add_flops(*plan.engine_flops, table);
  if (plan.time) add_time(*plan.time, table);
  return table.text() + '\n' + origins_text(plan);
}

}  // namespace cpplan::report
