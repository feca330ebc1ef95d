#include "app/checked_config.hpp"

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "app/exit_code.hpp"
#include "base/files.hpp"
#include "cluster/environment.hpp"
#include "config/load.hpp"
#include "data/lengths.hpp"
#include "launch/check_launch.hpp"
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

Result<config::LoadedConfig> load(const std::string& path, const ConfigOptions& options) {
  return config::load_config(path, {.overlays = options.with,
                                    .overrides = overrides_of(options.set),
                                    .dialect = options.dialect});
}

Result<std::vector<Index>> read_documents(const std::string& path) {
  const auto lengths = data::read_lengths(path);
  if (!lengths) return tl::unexpected(lengths.error());
  return std::vector<Index>(lengths->rows.begin(), lengths->rows.end());
}

/// Reads the files of numbers that flags name. Error: one cannot be read.
Result<plan::PlanInputs> read_inputs(const ConfigOptions& options) {
  plan::PlanInputs inputs = options.inputs;
  if (options.lengths) {
    auto lengths = data::read_lengths(*options.lengths);
    if (!lengths) return tl::unexpected(lengths.error());
    inputs.lengths = std::make_shared<const data::RowLengths>(std::move(*lengths));
  }
  if (options.documents) {
    auto documents = read_documents(*options.documents);
    if (!documents) return tl::unexpected(documents.error());
    inputs.documents = std::move(*documents);
  }
  return inputs;
}

Result<cluster::HardwareProfile> read_hardware(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  const auto json = Json::parse(*text);
  if (!json) return tl::unexpected(json.error());
  return cluster::hardware_from(*json);
}

/// Of --hardware, else of cpplan.cluster.hardware, which is read from where its config stands.
Result<std::optional<cluster::HardwareProfile>> hardware_of(const ConfigOptions& options,
                                                            const config::TrainingConfig& config) {
  const auto& setting = config.cluster.hardware;
  if (!options.hardware && !setting.given()) return std::nullopt;
  const auto folder = std::filesystem::path(config.file).parent_path();
  auto profile = read_hardware(options.hardware ? std::filesystem::path(*options.hardware)
                                                : folder / *setting);
  if (!profile) return tl::unexpected(profile.error());
  return std::move(*profile);
}

std::optional<launch::LaunchCommand> launch_command_of(const ConfigOptions& options) {
  if (!options.launch_command) return std::nullopt;
  return launch::parse_launch_command(*options.launch_command);
}

/// What the launch command says of the world, and what the plan says of the launch command.
void take_launch_command(launch::LaunchCommand& command, CheckedConfig& checked) {
  append(checked.findings, std::move(command.findings));
  if (command.line) append(checked.findings, launch::check_launch(*command.line, *checked.plan));
  checked.others.push_back(std::move(command.source));
}

}  // namespace

std::vector<diag::SourceFile> sources_of(const CheckedConfig& checked) {
  std::vector<diag::SourceFile> sources = {checked.source};
  sources.insert(sources.end(), checked.others.begin(), checked.others.end());
  return sources;
}

Result<CheckedConfig> check_config(const std::string& path, const ConfigOptions& options) {
  auto loaded = load(path, options);
  if (!loaded) return tl::unexpected(loaded.error());
  auto inputs = read_inputs(options);
  if (!inputs) return tl::unexpected(inputs.error());
  CheckedConfig checked{std::move(loaded->source), std::move(loaded->overlays), std::nullopt,
                        std::move(loaded->diagnostics)};
  if (!loaded->config) return checked;
  auto command = launch_command_of(options);
  if (command && command->line)
    inputs->launched = launch::ranks_started(*command->line, inputs->gpus_per_node);
  auto hardware = hardware_of(options, *loaded->config);
  if (!hardware) return tl::unexpected(hardware.error());
  inputs->hardware = std::move(*hardware);
  const auto environment = cluster::read_environment(cluster::process_variables());
  checked.plan = plan::make_plan(*loaded->config, *inputs, environment);
  append(checked.findings, checked.plan->diagnostics);
  append(checked.findings, rules::check(*checked.plan));
  if (command) take_launch_command(*command, checked);
  diag::sort_by_place(checked.findings);
  return checked;
}

int exit_code_of(const diag::Diagnostics& findings_of_all, bool strict) {
  const diag::Summary summary = diag::summarize(findings_of_all);
  const bool failed = summary.errors > 0 || (strict && summary.warnings > 0);
  return failed ? findings : ok;
}

}  // namespace cpplan::app
