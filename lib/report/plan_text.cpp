#include "report/plan_text.hpp"

#include <fmt/format.h>

#include "report/text_sections.hpp"

namespace cpplan::report {
namespace {

std::string heading(const std::string& title, diag::Color color) {
  return color == diag::Color::always ? "\x1b[1m" + title + "\x1b[0m\n" : title + '\n';
}

std::string title_of(const plan::Plan& plan) {
  const bool axolotl = plan.config.dialect == config::Dialect::axolotl;
  return fmt::format("plan of {} ({})", plan.config.file, axolotl ? "axolotl" : "megatron");
}

std::string learning_rate_title(const plan::Plan& plan) {
  return fmt::format("learning rate ({})", plan.steps.lr_scheduler);
}

std::string time_title(const plan::Plan& plan) {
  if (!plan.time) return "";
  return fmt::format("time of the engine (one step on {}, {})", plan.time->hardware,
                     plan.time->precision);
}

std::string layout_title(const plan::Plan& plan) {
  return fmt::format("ranks ({}, fastest first)", layout::to_string(plan.layout.order));
}

}  // namespace

std::string plan_text(const plan::Plan& plan, diag::Color color) {
  const std::pair<std::string, std::string> sections[] = {
      {"world", world_section(plan)},
      {"batch", batch_section(plan)},
      {"steps", steps_section(plan)},
      {"packing", packing_section(plan)},
      {"as another version computes it", as_section(plan)},
      {learning_rate_title(plan), learning_rate_section(plan)},
      {layout_title(plan), layout_section(plan)},
      {"sequence: chunks of each context-parallel rank", sequence_section(plan)},
      {"dimensions (bytes that one rank sends in one step)", dimensions_section(plan)},
      {"documents of a packed sequence", documents_section(plan)},
      {"memory of the framework (one rank)", framework_memory_section(plan)},
      {"memory of the engine", memory_section(plan)},
      {traffic_title(plan), traffic_section(plan)},
      {time_title(plan), time_section(plan)},
      {"launch", launch_section(plan)}};
  std::string text = heading(title_of(plan), color);
  for (const auto& [title, section] : sections)
    if (!section.empty()) text += '\n' + heading(title, color) + section;
  return text;
}

}  // namespace cpplan::report
