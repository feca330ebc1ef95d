#include <fmt/format.h>

#include "base/text.hpp"
#include "report/table.hpp"
#include "report/text_sections.hpp"

namespace cpplan::report {
namespace {

/// name, number, where it comes from.
Table facts() {
  return Table({{""}, {"", Align::right}, {""}});
}

/// A plan writes 0 for a product beyond 64 bits.
std::string product_text(Index product) {
  return product > 0 ? with_thousands(product) : "beyond 64 bits";
}

std::string global_batch_text(const plan::GlobalBatch& global) {
  if (global.gradient_accumulation_steps)
    return fmt::format("with gradient_accumulation_steps: {}", *global.gradient_accumulation_steps);
  std::vector<std::string> nearest;
  for (const Index n : global.nearest) nearest.push_back(with_thousands(n));
  return fmt::format("no accumulation gives it; nearest {}", join_words(nearest, "and"));
}

}  // namespace

std::string world_section(const plan::Plan& plan) {
  const auto& dims = plan.layout.dims;
  Table table = facts();
  table.add({"world size", with_thousands(plan.world.size), "from " + plan.world.source});
  table.add({"effective world size", with_thousands(plan.batch.effective_world_size),
             fmt::format("{} / (tp {} * cp {} * pp {}): ranks that read different data",
                         plan.world.size, dims.tp, dims.cp, dims.pp)});
  return table.text();
}

std::string batch_section(const plan::Plan& plan) {
  const plan::Batch& batch = plan.batch;
  Table table = facts();
  table.add({"batch size", product_text(batch.batch_size),
             fmt::format("micro {} * accumulation {} * dp {}", batch.micro_batch_size,
                         batch.gradient_accumulation_steps, batch.effective_world_size)});
  table.add({"tokens per step", product_text(batch.tokens_per_step),
             fmt::format("{} sequences of {}", product_text(batch.batch_size),
                         with_thousands(batch.sequence_len))});
  if (plan.global_batch)
    table.add({"global batch wanted", with_thousands(plan.global_batch->wanted),
               global_batch_text(*plan.global_batch)});
  return table.text();
}

std::string steps_section(const plan::Plan& plan) {
  const plan::Steps& steps = plan.steps;
  Table table = facts();
  if (steps.total_num_steps)
    table.add({"total steps", with_thousands(*steps.total_num_steps), steps.formula});
  else
    table.add({"total steps", "-", "not known without the number of rows: give --train-rows N"});
  if (steps.train_rows) table.add({"rows to train on", with_thousands(*steps.train_rows), ""});
  if (steps.eval_rows) table.add({"rows to evaluate on", with_thousands(*steps.eval_rows), ""});
  if (steps.trainer_max_steps && steps.trainer_max_steps != steps.total_num_steps)
    table.add({"steps the trainer runs", with_thousands(*steps.trainer_max_steps), "max_steps"});
  if (steps.warmup_steps) table.add({"warm-up steps", with_thousands(*steps.warmup_steps), ""});
  return table.text();
}

std::string learning_rate_section(const plan::Plan& plan) {
  if (plan.steps.learning_rates.empty()) return "";
  Table table({{""}, {"step", Align::right}, {"value", Align::right}});
  for (const auto& point : plan.steps.learning_rates)
    table.add({point.at, with_thousands(point.step), fmt::format("{:.6g}", point.value)});
  return table.text();
}

}  // namespace cpplan::report
