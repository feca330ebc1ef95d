#include <fmt/format.h>

#include "app/checked_config.hpp"
#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/subcommands.hpp"
#include "app/usage.hpp"
#include "diag/render_concise.hpp"
#include "diag/render_json.hpp"
#include "plan/make_plan.hpp"
#include "report/plan_env.hpp"
#include "report/plan_json.hpp"
#include "report/plan_text.hpp"
#include "report/plan_value.hpp"

namespace cpplan::app {
namespace {

/// What keeps a plan from being right, where standard output carries values alone.
void print_errors(const diag::Diagnostics& findings) {
  diag::Diagnostics errors;
  for (const auto& finding : findings)
    if (finding.severity == diag::Severity::error) errors.push_back(finding);
  fmt::print(stderr, "{}", diag::render_concise(errors));
}

/// The document of a config without a plan: its findings.
Json document_of(const CheckedConfig& checked) {
  if (checked.plan) return report::plan_json(*checked.plan, checked.findings);
  return Json::Object{{"schema", "cpplan/plan/1"},
                      {"summary", diag::summary_json(diag::summarize(checked.findings))},
                      {"diagnostics", diag::diagnostics_json(checked.findings)}};
}

void print_text(const CheckedConfig& checked, ColorMode mode) {
  const auto color = color_of(Stream::standard_output, mode);
  if (checked.plan) fmt::print("{}\n", report::plan_text(*checked.plan, color));
  fmt::print("{}{}", diag::render_text(checked.findings, sources_of(checked), color),
             diag::summary_line(diag::summarize(checked.findings), checked.source.name()));
}

int print_value(const CheckedConfig& checked, const std::string& name) {
  print_errors(checked.findings);
  if (!checked.plan) return findings;
  const auto value = report::find_value(document_of(checked), name);
  if (!value) return usage_error("plan", value.error().message);
  if (value->is_null()) {
    fmt::print(stderr, "error: {} is not known (the config and the flags do not give it)\n", name);
    return findings;
  }
  fmt::print("{}\n", report::value_text(*value));
  return exit_code_of(checked.findings);
}

int print_all(const CheckedConfig& checked, const PlanOptions& options) {
  switch (options.format) {
    case PlanFormat::text:
      print_text(checked, options.config.color);
      break;
    case PlanFormat::json:
      fmt::print("{}\n", document_of(checked).dump());
      break;
    case PlanFormat::env:
      print_errors(checked.findings);
      fmt::print("{}", report::plan_env(document_of(checked)));
      break;
  }
  return exit_code_of(checked.findings);
}

}  // namespace

int plan(const PlanOptions& options) {
  auto checked = check_config(options.path, options.config);
  if (!checked) {
    fmt::print(stderr, "error: {}\n", checked.error().message);
    return environment;
  }
  if (checked->plan) plan::measure_engine(*checked->plan);
  return options.get ? print_value(*checked, *options.get) : print_all(*checked, options);
}

}  // namespace cpplan::app
