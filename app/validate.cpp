#include <fmt/format.h>

#include <utility>

#include "app/checked_config.hpp"
#include "app/color.hpp"
#include "app/config_files.hpp"
#include "app/exit_code.hpp"
#include "app/subcommands.hpp"
#include "diag/render_concise.hpp"
#include "diag/render_json.hpp"
#include "diag/render_text.hpp"

namespace cpplan::app {
namespace {

/// What all files together gave.
struct Verdict {
  std::vector<diag::SourceFile> sources;
  int configs = 0;
  diag::Diagnostics findings;
  bool unreadable = false;
};

void report_unreadable(Verdict& verdict, const Error& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  verdict.unreadable = true;
}

void add_file(Verdict& verdict, const std::string& file, const ConfigOptions& options) {
  auto checked = check_config(file, options);
  if (!checked) return report_unreadable(verdict, checked.error());
  for (auto& source : sources_of(*checked)) verdict.sources.push_back(std::move(source));
  ++verdict.configs;
  for (auto& finding : checked->findings) verdict.findings.push_back(std::move(finding));
}

Verdict check_all(const ValidateOptions& options) {
  Verdict verdict;
  for (const std::string& path : options.paths) {
    const auto files = config_files(path);
    if (!files) report_unreadable(verdict, files.error());
    for (const std::string& file : files.value_or(std::vector<std::string>()))
      add_file(verdict, file, options.config);
  }
  return verdict;
}

std::string where(const Verdict& verdict) {
  return verdict.configs == 1 ? verdict.sources.front().name()
                              : fmt::format("{} files", verdict.configs);
}

std::string rendered(const Verdict& verdict, const ValidateOptions& options) {
  const bool with_summary = !options.quiet && !verdict.sources.empty();
  const std::string summary =
      with_summary ? diag::summary_line(diag::summarize(verdict.findings), where(verdict)) : "";
  switch (options.format) {
    case FindingsFormat::json:
      return diag::validate_document(verdict.findings).dump() + '\n';
    case FindingsFormat::concise:
      return diag::render_concise(verdict.findings) + summary;
    case FindingsFormat::text:
      break;
  }
  const auto color = color_of(Stream::standard_output, options.config.color);
  return diag::render_text(verdict.findings, verdict.sources, color) + summary;
}

}  // namespace

int validate(const ValidateOptions& options) {
  const Verdict verdict = check_all(options);
  fmt::print("{}", rendered(verdict, options));
  return verdict.unreadable ? environment : exit_code_of(verdict.findings, options.strict);
}

}  // namespace cpplan::app
