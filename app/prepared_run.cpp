#include "app/prepared_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "app/exit_code.hpp"
#include "diag/rule_table.hpp"
#include "train/objections.hpp"

namespace cpplan::app {
namespace {

ConfigOptions config_options(const RunOptions& options) {
  ConfigOptions config = options.config;
  if (options.ranks) config.inputs.world_size = options.ranks;
  config.inputs.synthetic = options.synthetic;
  config.inputs.save_every = options.save_every;
  config.inputs.resume = options.resume;
  config.inputs.checkpoint_writer = options.checkpoint_writer;
  return config;
}

void add_objections(CheckedConfig& checked) {
  using Kind = train::Objection::Kind;
  for (const auto& objection : train::objections(*checked.plan)) {
    auto span = objection.span;
    if (span.file.empty()) span.file = checked.source.name();
    checked.findings.push_back(diag::finding(objection.kind == Kind::refused ? "CP512" : "CP513",
                                             std::move(span), objection.message,
                                             {.why = objection.why, .help = {objection.help}}));
  }
  diag::sort_by_place(checked.findings);
}

Result<CheckedConfig> check_with(const RunOptions& options, const ConfigOptions& config) {
  auto checked = check_config(options.path, config);
  if (checked && checked->plan) add_objections(*checked);
  return checked;
}

tl::unexpected<NotRun> not_run(int exit_code, std::string message) {
  return tl::unexpected(NotRun{exit_code, std::move(message), {}});
}

tl::unexpected<NotRun> refused(CheckedConfig checked) {
  std::string message = first_error(checked);
  return tl::unexpected(NotRun{findings, std::move(message), std::move(checked)});
}

}  // namespace

Result<CheckedConfig> check_run_config(const RunOptions& options) {
  return check_with(options, config_options(options));
}

std::string first_error(const CheckedConfig& checked) {
  for (const auto& finding : checked.findings)
    if (finding.severity == diag::Severity::error) return finding.message;
  return fmt::format("{} is no config", checked.source.name());
}

tl::expected<PreparedRun, NotRun> prepare_run(const RunOptions& options, CheckedConfig checked) {
  const auto kind = options.synthetic ? train::DataKind::synthetic : train::DataKind::files;
  auto data = train::load_training_data(*checked.plan, kind);
  if (!data) return not_run(environment, data.error().message);

  ConfigOptions counted = config_options(options);
  counted.inputs.rows = {}, counted.inputs.train_rows = data->samples.samples_per_epoch();
  auto again = check_with(options, counted);
  if (!again) return not_run(environment, again.error().message);
  if (!again->plan || exit_code_of(again->findings) != ok) return refused(std::move(*again));

  auto run = train::make_training_run(*again->plan, *data, options.steps);
  if (!run) return not_run(findings, run.error().message);
  return PreparedRun{std::move(*again), std::move(*data), std::move(*run), {}};
}

}  // namespace cpplan::app
