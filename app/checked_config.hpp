#pragma once
// A config through the whole pipeline of checks: text, keys, plan, rules.
#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "base/result.hpp"
#include "diag/diagnostic.hpp"
#include "diag/source_file.hpp"
#include "plan/plan.hpp"

namespace cpplan::app {

struct CheckedConfig {
  diag::SourceFile source;
  std::vector<diag::SourceFile> others;  // overlays and the launch command
  std::optional<plan::Plan> plan;        // none where the text is no mapping
  diag::Diagnostics findings;            // all there are, sorted by place
};

/// All texts that findings point into.
std::vector<diag::SourceFile> sources_of(const CheckedConfig& checked);

/// "-" is standard input. Error: a file cannot be read.
Result<CheckedConfig> check_config(const std::string& path, const ConfigOptions& options);

/// 1 where findings fail: errors, and under `strict` warnings, too.
int exit_code_of(const diag::Diagnostics& findings, bool strict = false);

}  // namespace cpplan::app
