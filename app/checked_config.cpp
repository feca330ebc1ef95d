#include "app/checked_config.hpp"

#include <utility>
#include <vector>

#include "app/exit_code.hpp"
#include "cluster/environment.hpp"
#include "config/load.hpp"
#include "plan/make_plan.hpp"
#include "rules/check.hpp"

namespace cpplan::app {
namespace {

std::vector<config::Override> overrides_of(const std::vector<std::string>& assignments) {
  std::vector<config::Override> overrides;
  for (const std::string& text : assignments) {
    const auto equals = text.find('=');
    overrides.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return overrides;
}

void append(diag::Diagnostics& all, diag::Diagnostics more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Result<CheckedConfig> check_config(const std::string& path, const ConfigOptions& options) {
  auto loaded = config::load_config(path, overrides_of(options.set));
  if (!loaded) return tl::unexpected(loaded.error());
  CheckedConfig checked{std::move(loaded->source), std::nullopt, std::move(loaded->diagnostics)};
  if (!loaded->config) return checked;
  const auto launcher = cluster::read_environment(cluster::process_variables());
  checked.plan = plan::make_plan(*loaded->config, options.inputs, launcher);
  append(checked.findings, checked.plan->diagnostics);
  append(checked.findings, rules::check(*checked.plan));
  diag::sort_by_place(checked.findings);
  return checked;
}

int exit_code_of(const diag::Diagnostics& findings_of_all, bool strict) {
  const diag::Summary summary = diag::summarize(findings_of_all);
  const bool failed = summary.errors > 0 || (strict && summary.warnings > 0);
  return failed ? findings : ok;
}

}  // namespace cpplan::app
