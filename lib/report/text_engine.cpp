// What our engine holds and sends.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "plan/engine_settings.hpp"
#include "report/memory_json.hpp"
#include "report/table.hpp"
#include "report/text_sections.hpp"

namespace cpplan::report {
namespace {

constexpr std::size_t most_listed_classes = 16;

void add_bytes(Table& table, const std::string& what, Bytes allocated, Bytes at_peak) {
  table.add({what, human_bytes(allocated), human_bytes(at_peak)});
}

/// A formula is whole bytes, or off by a part of an element.
std::string formula_text(const plan::TrafficRow& row) {
  if (!row.formula_bytes) return "-";
  return with_thousands(static_cast<Index>(*row.formula_bytes + 0.5));
}

std::string ranks_text(const plan::EngineRankClass& alike) {
  if (alike.ranks == 1) return fmt::format("rank {}", alike.rank);
  return fmt::format("rank {} and {} like it", alike.rank, with_thousands(alike.ranks - 1));
}

std::string classes_text(const std::vector<plan::EngineRankClass>& classes) {
  if (classes.size() == 1) return "";
  Table table({{"all kinds together"},
               {"stage", Align::right},
               {"bytes", Align::right},
               {"messages", Align::right}});
  for (std::size_t i = 0; i < std::min(classes.size(), most_listed_classes); ++i) {
    const auto& alike = classes[i];
    table.add({ranks_text(alike), std::to_string(alike.stage), with_thousands(alike.bytes.count),
               with_thousands(alike.messages)});
  }
  if (classes.size() > most_listed_classes)
    table.add({fmt::format("... ({} classes of ranks)", classes.size()), "", "", ""});
  return table.text();
}

}  // namespace

std::string memory_section(const plan::Plan& plan) {
  if (!plan.engine_memory) return plan.no_engine.empty() ? "" : "  " + plan.no_engine + '\n';
  const plan::EngineMemory& memory = *plan.engine_memory;
  Table table({{""}, {"allocated", Align::right}, {"at the peak", Align::right}});
  add_bytes(table, fmt::format("parameters ({})", plan::name_of(plan::dtype_of(plan.config))),
            memory.parameters, memory.peak.parameters);
  add_bytes(table, "gradients", memory.gradients, memory.peak.gradients);
  add_bytes(table, "optimizer", memory.optimizer, memory.peak.optimizer);
  add_bytes(table, "activations", memory.activations, memory.peak.activations);
  add_bytes(table, "buffers", memory.buffers, memory.peak.buffers);
  if (memory.remote > Bytes{})
    table.add({"  for rows of other CP ranks", human_bytes(memory.remote), ""});
  if (memory.snapshot > Bytes{})
    add_bytes(table, "snapshot for checkpoints", memory.snapshot, memory.peak.snapshot);
  table.add({fmt::format("total, of rank {} (the heaviest)", memory.heaviest_rank),
             human_bytes(memory.total), human_bytes(memory.peak.total)});
  return table.text() + fmt::format("  the peak is in the {}\n", peak_moment(memory));
}

std::string traffic_title(const plan::Plan& plan) {
  if (!plan.engine_communication) return "";
  const plan::EngineRankClass& most = plan.engine_communication->heaviest_class();
  return fmt::format("traffic of the engine (rank {}, which sends most, one step)", most.rank);
}

std::string traffic_section(const plan::Plan& plan) {
  if (!plan.engine_communication) return "";
  const auto& classes = plan.engine_communication->classes;
  const plan::EngineRankClass& most = plan.engine_communication->heaviest_class();
  if (most.traffic.empty()) return "";
  Table table({{"group"},
               {"collective"},
               {"bytes", Align::right},
               {"by formula", Align::right},
               {"messages", Align::right}});
  for (const plan::TrafficRow& row : most.traffic)
    table.add({row.group, row.collective, with_thousands(row.bytes.count), formula_text(row),
               with_thousands(row.messages)});
  return table.text() + classes_text(classes);
}

}  // namespace cpplan::report
