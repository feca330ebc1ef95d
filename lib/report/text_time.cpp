#include <fmt/format.h>

#include "report/table.hpp"
#include "report/text_sections.hpp"

namespace cpplan::report {
namespace {

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string seconds_text(double seconds) {
  return seconds >= 1 ? fmt::format("{:.3f} s", seconds) : fmt::format("{:.3f} ms", 1e3 * seconds);
}

}  // namespace

std::string time_section(const plan::Plan& plan) {
  if (!plan.time) return "";
  const plan::StepTime& time = *plan.time;
  Table table({{""}, {"", Align::right}, {"", Align::right}, {""}});
  const auto part = [&](const std::string& name, double seconds, const char* what) {
    table.add({name, seconds_text(seconds), percent(seconds / time.seconds), what});
  };
  part("step", time.seconds, "");
  part("  compute", time.compute_seconds, "mean of the ranks");
  part("  pipeline bubble", time.bubble_seconds, "waiting for other stages");
  part("  imbalance", time.imbalance_seconds, "waiting for ranks with more to attend to");
  for (const auto& row : time.exposed)
    part("  exposed, " + row.group, row.seconds, "messages with nothing to compute beside them");
  table.add(
      {"tokens a second and GPU", fmt::format("{:.1f}", time.tokens_per_second_per_gpu), "", ""});
  table.add({"MFU", percent(time.mfu), "", "causal attention, sum of L^2, nothing computed again"});
  table.add({"HFU", percent(time.hfu), "", "all FLOPs that the engine executes"});
  return table.text();
}

}  // namespace cpplan::report
