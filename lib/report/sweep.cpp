#include "report/sweep.hpp"

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "report/json_values.hpp"
#include "report/table.hpp"

namespace cpplan::report {
namespace {

/// Accumulation under which a step has `tokens` tokens; none where no whole number gives them.
std::optional<Index> accumulation_for(const plan::Batch& batch, Index tokens) {
  const auto unit =
      checked_product(batch.micro_batch_size, batch.effective_world_size, batch.sequence_len);
  if (!unit || *unit < 1 || tokens < 1 || tokens % *unit != 0) return std::nullopt;
  return tokens / *unit;
}

/// That a rank sends in a step, over all dimensions whose bytes are known.
std::optional<Index> bytes_sent(const plan::LayoutPlan& layout) {
  std::optional<Index> sum;
  for (const auto& row : layout.dimensions)
    if (row.bytes_per_step) sum = checked_sum(sum.value_or(0), row.bytes_per_step->count);
  return sum;
}

std::optional<Bytes> memory_of(const plan::Plan& plan) {
  return plan.framework_memory ? std::optional(plan.framework_memory->total) : std::nullopt;
}

template <class T, class Write>
std::string cell(const std::optional<T>& value, Write write) {
  return value ? write(*value) : "-";
}

Index tokens_of_first(std::span<const SweepRow> rows) {
  return rows.empty() ? 0 : rows.front().plan.batch.tokens_per_step;
}

Json row_json(const SweepRow& row, Index tokens) {
  const plan::Plan& plan = row.plan;
  return Json::Object{
      {"value", row.value},
      {"errors", row.errors},
      {"effective_world_size", plan.batch.effective_world_size},
      {"batch_size", or_null(counted(plan.batch.batch_size))},
      {"tokens_per_step", or_null(counted(plan.batch.tokens_per_step))},
      {"accumulation_for_equal_tokens", or_null(accumulation_for(plan.batch, tokens))},
      {"total_num_steps", or_null(plan.steps.total_num_steps)},
      {"bytes_per_step", or_null(bytes_sent(plan.layout))},
      {"framework_total_bytes", or_null(memory_of(plan))}};
}

}  // namespace

std::string sweep_text(const std::string& key, std::span<const SweepRow> rows) {
  Table table({{key},
               {"dp", Align::right},
               {"batch", Align::right},
               {"accumulation", Align::right},
               {"steps", Align::right},
               {"bytes sent", Align::right},
               {"memory", Align::right},
               {""}});
  const Index tokens = tokens_of_first(rows);
  for (const SweepRow& row : rows) {
    const plan::Plan& plan = row.plan;
    table.add({row.value, with_thousands(plan.batch.effective_world_size),
               cell(counted(plan.batch.batch_size), with_thousands),
               cell(accumulation_for(plan.batch, tokens), with_thousands),
               cell(plan.steps.total_num_steps, with_thousands),
               cell(bytes_sent(plan.layout), with_thousands), cell(memory_of(plan), human_bytes),
               row.errors == 0 ? "" : fmt::format("{} errors: see cpplan validate", row.errors)});
  }
  return table.text() + fmt::format("accumulation: for the {} tokens per step of the first line\n",
                                    with_thousands(tokens));
}

Json sweep_json(const std::string& key, std::span<const SweepRow> rows) {
  Json json = Json::Object{{"schema", "cpplan/sweep/1"}, {"key", key}, {"rows", Json::array()}};
  for (const SweepRow& row : rows) json["rows"].push_back(row_json(row, tokens_of_first(rows)));
  return json;
}

}  // namespace cpplan::report
