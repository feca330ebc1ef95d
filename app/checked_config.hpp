#pragma once
// A config through the whole pipeline of checks: text, keys, plan, rules.
#include <optional>
#include <string>

#include "app/options.hpp"
#include "base/result.hpp"
#include "diag/diagnostic.hpp"
#include "diag/source_file.hpp"
#include "plan/plan.hpp"

namespace cpplan::app {

struct CheckedConfig {
  diag::SourceFile source;
  std::optional<plan::Plan> plan;  // none where the text is no mapping
  diag::Diagnostics findings;      // all there are, sorted by place
};

/// "-" is standard input. Error: the file cannot be read.
Result<CheckedConfig> check_config(const std::string& path, const ConfigOptions& options);

/// 1 where findings fail: errors, and under `strict` warnings, too.
int exit_code_of(const diag::Diagnostics& findings, bool strict = false);

}  // namespace cpplan::app
