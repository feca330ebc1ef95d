#include <fmt/format.h>

#include "app/checked_config.hpp"
#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/subcommands.hpp"
#include "diag/render_text.hpp"
#include "report/layout_report.hpp"

namespace cpplan::app {

int layout(const LayoutOptions& options) {
  const auto checked = check_config(options.path, options.config);
  if (!checked) {
    fmt::print(stderr, "error: {}\n", checked.error().message);
    return environment;
  }
  if (!checked->plan) {
    fmt::print(stderr, "{}",
               diag::render_text(checked->findings, sources_of(*checked), diag::Color::never));
    return findings;
  }
  if (options.format == LayoutFormat::json) {
    fmt::print("{}\n", report::layout_document(*checked->plan, checked->findings).dump());
  } else {
    const auto color = color_of(Stream::standard_output, options.config.color);
    fmt::print("{}\n{}", report::layout_text(*checked->plan),
               diag::render_text(checked->findings, sources_of(*checked), color));
  }
  return exit_code_of(checked->findings);
}

}  // namespace cpplan::app
