#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/table.hpp"
#include "report/text_sections.hpp"

namespace cpplan::report {
namespace {

using layout::Dim;
using layout::Ranks;

constexpr int largest_listed_world = 32, most_listed_cp_ranks = 16;

std::string rank_table(const Ranks& ranks) {
  const Dim dims[] = {Dim::tp, Dim::cp, Dim::pp, Dim::dp};
  std::vector<Column> columns = {{"rank", Align::right}};
  for (const Dim d : dims) columns.push_back({std::string(name_of(d)), Align::right});
  Table table(std::move(columns));
  for (int rank = 0; rank < ranks.world(); ++rank) {
    std::vector<std::string> cells = {std::to_string(rank)};
    for (const Dim d : dims) cells.push_back(std::to_string(ranks.coordinates(rank)[d]));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string stride_table(const Ranks& ranks) {
  Table table(
      {{"dimension"}, {"size", Align::right}, {"groups", Align::right}, {"stride", Align::right}});
  for (const Dim d : {Dim::tp, Dim::cp, Dim::pp, Dim::dp})
    table.add({std::string(name_of(d)), with_thousands(ranks.size(d)),
               with_thousands(ranks.world() / ranks.size(d)), with_thousands(ranks.stride(d))});
  return table.text();
}

std::string numbers_text(const auto& numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

std::string weights_text(const plan::LayoutPlan& layout) {
  const auto& dims = layout.dims;
  Table table({{""}, {"", Align::right}, {""}});
  table.add({"weights are sharded", with_thousands(layout.weight_shards),
             fmt::format("ways: tp {} * pp {}", dims.tp, dims.pp)});
  table.add({"and replicated", with_thousands(layout.weight_replicas),
             fmt::format("times: dp {} * cp {}", dims.dp, dims.cp)});
  if (!layout.stage_layers.empty())
    table.add({"layers of each stage", numbers_text(layout.stage_layers), ""});
  return table.text();
}

std::string column_title(const std::string& whose, const plan::SequenceLayout& layout) {
  return fmt::format("{} ({})", whose, layout.kind);
}

std::string imbalance_text(const plan::SequenceLayout& layout) {
  return fmt::format("{:.3f}", layout.imbalance);
}

}  // namespace

std::string layout_section(const plan::Plan& plan) {
  const Ranks ranks(plan.layout.dims, plan.layout.order);
  const bool listed = ranks.world() <= largest_listed_world;
  return (listed ? rank_table(ranks) : stride_table(ranks)) + weights_text(plan.layout);
}

std::string sequence_section(const plan::Plan& plan) {
  const auto &framework = plan.framework_layout, &engine = plan.engine_layout;
  if (framework.chunks.empty() || engine.chunks.empty()) return "";
  Table table(
      {{"cp rank"}, {column_title("framework", framework)}, {column_title("engine", engine)}});
  const std::size_t ranks = std::min(framework.chunks.size(), engine.chunks.size());
  for (std::size_t rank = 0; rank < std::min<std::size_t>(ranks, most_listed_cp_ranks); ++rank)
    table.add({std::to_string(rank), numbers_text(framework.chunks[rank]),
               numbers_text(engine.chunks[rank])});
  if (ranks > most_listed_cp_ranks)
    table.add({"...", fmt::format("({} ranks)", ranks), fmt::format("({} ranks)", ranks)});
  table.add({"tokens of a chunk", with_thousands(framework.chunk_tokens),
             with_thousands(engine.chunk_tokens)});
  table.add({"padded length", with_thousands(framework.padded_sequence_len),
             with_thousands(engine.padded_sequence_len)});
  table.add({"imbalance of causal work", imbalance_text(framework), imbalance_text(engine)});
  return table.text();
}

/// A block of lines a dimension: in columns they would be wider than a terminal.
std::string dimensions_section(const plan::Plan& plan) {
  if (plan.layout.dimensions.empty()) return "";
  Table table({{""}, {"", Align::right}, {""}, {""}});
  for (const plan::DimensionRow& row : plan.layout.dimensions) {
    table.add({row.dimension, with_thousands(row.size), "splits", row.splits});
    table.add({"", "", "copies", row.copies});
    table.add({"", "", "collective", row.collective});
    if (row.bytes_per_step)
      table.add({"", "", "bytes sent", with_thousands(row.bytes_per_step->count)});
  }
  return table.text();
}

}  // namespace cpplan::report
