#include <fmt/format.h>

#include <cstdio>

#include "app/exit_code.hpp"
#include "app/subcommands.hpp"
#include "diag/render_rules.hpp"

namespace cpplan::app {

int rules(const RulesOptions& options) {
  switch (options.format) {
    case RulesFormat::text:
      fmt::print("{}", diag::render_rules());
      break;
    case RulesFormat::json:
      fmt::print("{}\n", diag::rules_json().dump());
      break;
    case RulesFormat::markdown:
      fmt::print("{}", diag::rules_markdown());
      break;
  }
  return ok;
}

}  // namespace cpplan::app
