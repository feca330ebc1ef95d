#include <fmt/format.h>

#include <algorithm>

#include "app/checked_config.hpp"
#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/subcommands.hpp"
#include "app/usage.hpp"
#include "diag/render_concise.hpp"
#include "diag/render_json.hpp"
#include "plan/make_plan.hpp"
#include "report/explain_text.hpp"
#include "report/plan_env.hpp"
#include "report/plan_json.hpp"
#include "report/plan_text.hpp"
#include "report/plan_value.hpp"
#include "report/sweep.hpp"

namespace cpplan::app {
namespace {

/// What keeps a plan from being right, where standard output carries values alone.
void print_errors(const diag::Diagnostics& findings) {
  diag::Diagnostics errors;
  for (const auto& finding : findings)
    if (finding.severity == diag::Severity::error) errors.push_back(finding);
  fmt::print(stderr, "{}", diag::render_concise(errors));
}

int unreadable(const Error& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return environment;
}

/// The document of a config without a plan: its findings.
Json document_of(const CheckedConfig& checked) {
  if (checked.plan) return report::plan_json(*checked.plan, checked.findings);
  return Json::Object{{"schema", "cpplan/plan/1"},
                      {"summary", diag::summary_json(diag::summarize(checked.findings))},
                      {"diagnostics", diag::diagnostics_json(checked.findings)}};
}

enum class TextForm { plain, explained };

void print_text(const CheckedConfig& checked, ColorMode mode, TextForm form) {
  const auto color = color_of(Stream::standard_output, mode);
  if (checked.plan) fmt::print("{}\n", report::plan_text(*checked.plan, color));
  if (checked.plan && form == TextForm::explained)
    fmt::print("formulas\n{}\n", report::explain_text(*checked.plan));
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
      print_text(checked, options.config.color,
                 options.explain ? TextForm::explained : TextForm::plain);
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

struct Sweep {
  std::string key;
  std::vector<std::string> values;
};

/// "key=a,b,c"
Sweep read_sweep(const std::string& text) {
  const auto equals = text.find('=');
  Sweep sweep{text.substr(0, equals), {}};
  std::string_view rest = std::string_view(text).substr(equals + 1);
  while (!rest.empty()) {
    const auto value = rest.substr(0, rest.find(','));
    sweep.values.emplace_back(value);
    rest.remove_prefix(std::min(value.size() + 1, rest.size()));
  }
  return sweep;
}

int run_sweep(const PlanOptions& options) {
  const Sweep sweep = read_sweep(*options.sweep);
  std::vector<report::SweepRow> rows;
  for (const std::string& value : sweep.values) {
    ConfigOptions config = options.config;
    config.set.push_back(sweep.key + '=' + value);
    auto checked = check_config(options.path, config);
    if (!checked) return unreadable(checked.error());
    if (!checked->plan) return unreadable({checked->findings.front().message});
    const auto summary = diag::summarize(checked->findings);
    rows.push_back({value, std::move(*checked->plan), summary.errors});
  }
  if (options.format == PlanFormat::json)
    fmt::print("{}\n", report::sweep_json(sweep.key, rows).dump());
  else
    fmt::print("{}", report::sweep_text(sweep.key, rows));
  const bool all_fail = std::ranges::all_of(rows, [](const auto& row) { return row.errors > 0; });
  return all_fail ? findings : ok;
}

}  // namespace

int plan(const PlanOptions& options) {
  if (options.sweep) return run_sweep(options);
  auto checked = check_config(options.path, options.config);
  if (!checked) return unreadable(checked.error());
  if (checked->plan) {
    plan::measure_engine(*checked->plan);
    plan::measure_flops(*checked->plan);
    plan::predict_time(*checked->plan);
  }
  return options.get ? print_value(*checked, *options.get) : print_all(*checked, options);
}

}  // namespace cpplan::app
