// What the planner adds: packing, other versions, the framework's memory, launch lines.
#include <fmt/format.h>

#include "base/text.hpp"
#include "report/launch_lines.hpp"
#include "report/table.hpp"
#include "report/text_sections.hpp"

namespace cpplan::report {
namespace {

std::string range_text(Index least, Index most) {
  return least == most ? "exact"
                       : fmt::format("{} to {}", with_thousands(least), with_thousands(most));
}

std::string fit_text(const plan::FrameworkMemory& m) {
  if (!m.gpu_bytes) return "";
  const char* verdict = m.fit == plan::Fit::exceeds ? "more than" : "of";
  return fmt::format("{} {} ({})", verdict, human_bytes(*m.gpu_bytes), m.gpu);
}

}  // namespace

std::string packing_section(const plan::Plan& plan) {
  if (!plan.steps.packing) return "";
  const plan::Packing& p = *plan.steps.packing;
  Table table({{""}, {"", Align::right}, {""}});
  table.add({"bins of an epoch", with_thousands(p.bins), range_text(p.min_bins, p.max_bins)});
  table.add({"micro-batches", with_thousands(p.batches), ""});
  table.add({"steps of the loader", with_thousands(p.data_loader_len), p.method});
  table.add({"steps of the run", "", range_text(p.min_steps, p.max_steps)});
  table.add({"efficiency", fmt::format("{:.4f}", p.efficiency),
             fmt::format("of bins of {} tokens", with_thousands(p.bin_capacity))});
  return table.text();
}

std::string as_section(const plan::Plan& plan) {
  if (!plan.as_version) return "";
  const plan::AsVersion& as = *plan.as_version;
  Table table({{as.version}, {"", Align::right}, {""}});
  table.add({"batch size", with_thousands(as.batch_size), as.batch_formula});
  if (as.total_num_steps)
    table.add({"steps", fmt::format("{}", *as.total_num_steps), as.steps_formula});
  if (as.epochs) table.add({"epochs they make", fmt::format("{:.4g}", *as.epochs), ""});
  return table.text() + "  " + as.verdict + '\n';
}

std::string framework_memory_section(const plan::Plan& plan) {
  if (!plan.framework_memory) return "";
  const plan::FrameworkMemory& m = *plan.framework_memory;
  Table table({{""}, {"", Align::right}, {""}});
  for (const plan::MemoryTerm& term : m.terms)
    table.add({term.name, human_bytes(term.bytes), term.formula});
  table.add({fmt::format("total, of rank {} (the heaviest)", m.heaviest_rank), human_bytes(m.total),
             fit_text(m)});
  return table.text() + fmt::format("  {}; the peak is at the {}\n", m.sharding, m.peak);
}

std::string launch_section(const plan::Plan& plan) {
  Table table({{""}, {""}});
  for (const LaunchText& launch : launch_lines(plan)) table.add({launch.launcher, launch.line});
  return table.text();
}

}  // namespace cpplan::report
