#include <fmt/format.h>

#include <algorithm>

#include "app/checked_config.hpp"
#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/subcommands.hpp"
#include "base/files.hpp"
#include "diag/render_text.hpp"
#include "launch/sbatch_script.hpp"
#include "report/launch_lines.hpp"

namespace cpplan::app {
namespace {

int stop_with(ExitCode code, std::string_view message) {
  fmt::print(stderr, "error: {}\n", message);
  return code;
}

/// What the job must be told beside the file, so that it runs what was planned.
std::vector<std::string> flags_of(const ConfigOptions& options) {
  std::vector<std::string> flags;
  const auto add = [&](const char* flag, std::string value) {
    flags.emplace_back(flag);
    flags.push_back(std::move(value));
  };
  for (const std::string& file : options.with) add("--with", file);
  for (const std::string& assignment : options.set) add("--set", assignment);
  if (options.dialect)
    add("--dialect", *options.dialect == config::Dialect::axolotl ? "axolotl" : "megatron");
  if (options.inputs.order) add("--order", layout::to_string(*options.inputs.order));
  return flags;
}

/// The framework's own line, where it is asked for and the config's dialect has it.
Result<launch::BatchProgram> program_of(const SbatchOptions& options, const plan::Plan& plan) {
  const BatchLauncher launcher = options.launcher;
  const auto flags = flags_of(options.config);
  if (launcher == BatchLauncher::cpplan) return launch::BatchProgram{std::nullopt, flags};
  const std::string name = launcher == BatchLauncher::torchrun ? "torchrun" : "accelerate";
  for (const auto& text : report::launch_lines(plan))
    if (text.launcher == name) return launch::BatchProgram{text.line, flags};
  return failure(fmt::format(
      "{} does not start this config's framework (it is Megatron's). use --launcher torchrun",
      name));
}

int write(const std::string& script, const std::optional<std::string>& output) {
  if (!output) {
    fmt::print("{}", script);
    return ok;
  }
  const auto written = write_file_atomically(*output, script);
  return written ? int{ok} : stop_with(environment, written.error().message);
}

}  // namespace

int sbatch(const SbatchOptions& options) {
  if (options.path == "-")
    return stop_with(usage, "sbatch names the config in the script. give a file");
  const auto checked = check_config(options.path, options.config);
  if (!checked) return stop_with(environment, checked.error().message);
  if (!checked->plan || exit_code_of(checked->findings) != ok) {
    fmt::print(stderr, "{}",
               diag::render_text(checked->findings, sources_of(*checked),
                                 color_of(Stream::standard_error, options.config.color)));
    return findings;
  }
  const auto program = program_of(options, *checked->plan);
  if (!program) return stop_with(usage, program.error().message);
  const auto script = launch::sbatch_script(*checked->plan, *program);
  if (!script) return stop_with(findings, script.error().message);
  return write(*script, options.output);
}

}  // namespace cpplan::app
