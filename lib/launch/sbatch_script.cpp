#include "launch/sbatch_script.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "launch/command.hpp"

namespace cpplan::launch {
namespace {

using plan::Plan;

/// "llama" of "runs/llama.yaml"; SLURM takes no white space in a name.
std::string job_name(const Plan& plan) {
  std::string name = std::filesystem::path(plan.config.file).stem().string();
  for (char& c : name)
    if (std::isspace(static_cast<unsigned char>(c))) c = '-';
  return name.empty() ? "cpplan" : name;
}

std::string directive(std::string_view option, std::string_view value) {
  return fmt::format("#SBATCH --{}={}\n", option, value);
}

/// What the config says of the site; an option that it does not name is SLURM's default.
std::string site_options(const config::ClusterSettings& site) {
  const std::pair<std::string_view, const config::Setting<std::string>*> options[] = {
      {"partition", &site.partition},
      {"account", &site.account},
      {"qos", &site.qos},
      {"constraint", &site.constraint},
      {"time", &site.time},
      {"reservation", &site.reservation}};
  std::string text;
  for (const auto& [name, setting] : options)
    if (setting->given()) text += directive(name, **setting);
  return text;
}

std::string heading(const Plan& plan, const NodeShape& shape) {
  const auto& d = plan.layout.dims;
  const std::string steps =
      plan.steps.total_num_steps
          ? fmt::format(", {} steps", with_thousands(*plan.steps.total_num_steps))
          : "";
  return fmt::format(
      "#!/bin/bash\n"
      "# {}: {} ranks on {} {} of {}, TP {} x CP {} x PP {} x DP {}.\n"
      "# batch_size {}{}. Written by cpplan {}; submit it with sbatch.\n",
      plan.config.file, with_thousands(plan.world.size), shape.nodes,
      shape.nodes == 1 ? "node" : "nodes", shape.ranks_per_node, d.tp, d.cp, d.pp, d.dp,
      with_thousands(plan.batch.batch_size), steps, CPPLAN_VERSION);
}

std::string resources(const Plan& plan, const NodeShape& shape, const BatchProgram& program) {
  std::string text =
      directive("job-name", job_name(plan)) + directive("nodes", std::to_string(shape.nodes));
  if (program.framework_line) {  // its launcher starts the ranks of a node
    text += directive("ntasks-per-node", "1");
    text += directive("gpus-per-node", std::to_string(shape.ranks_per_node));
  } else {
    text += directive("ntasks-per-node", std::to_string(shape.ranks_per_node));
    // Of nodes without GPUs SLURM would refuse the job.
    if (plan.config.cluster.gpu.given())
      text += directive("gpus-per-node", std::to_string(shape.ranks_per_node));
  }
  return text + site_options(plan.config.cluster) + directive("output", job_name(plan) + "-%j.log");
}

constexpr std::string_view requeue_options =
    "# SLURM warns this script two minutes before it ends the job (the end of its time, or a job "
    "that\n"
    "# goes before it), and a job that was put back into the queue adds to its log.\n"
    "#SBATCH --signal=B:USR1@120\n"
    "#SBATCH --requeue\n"
    "#SBATCH --open-mode=append\n";

/// "train.yaml --set a=b", as words of a shell.
std::string config_words(const Plan& plan, const BatchProgram& program) {
  std::string words = shell_word(plan.config.file);
  for (const std::string& flag : program.config_flags) words += " " + shell_word(flag);
  return words;
}

std::string validation(const std::string& config) {
  return fmt::format(
      "set -u\n\n"
      "# A mistake in the config ends the job in its first second.\n"
      "cpplan validate {} || exit\n\n",
      config);
}

std::string engine_lines(const Plan& plan, const std::string& config) {
  return fmt::format(
      "if [ \"$SLURM_NTASKS\" != {0} ]; then\n"
      "  echo \"the job has $SLURM_NTASKS tasks, and the plan {0} ranks. submit it as it stands, "
      "or\" \\\n"
      "    \"write a script for that number\" >&2\n"
      "  exit 1\n"
      "fi\n\n"
      "# It starts a task a rank with srun, watches them, and ends them all when one cannot go "
      "on.\n"
      "cpplan run {1} --launcher srun --world-size {0}{2} &\n",
      plan.world.size, config, plan.checkpoints ? " --resume" : "");
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Variables in the line are those of the node that runs it.
std::string framework_lines(const std::string& line) {
  return fmt::format(
      "# The launcher runs once on each node and starts a rank a GPU.\n"
      "FIRST_HOST=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
      "export FIRST_HOST\n"
      "srun --kill-on-bad-exit=1 bash -c '{}' &\n",
      replaced(replaced(line, "'", "'\\''"), "FIRST_HOST", "$FIRST_HOST"));
}

constexpr std::string_view ending =
    "job=$!\n\n"
    "# Signals are passed on. A trap runs when wait returns, and that is not yet the end of the "
    "job.\n"
    "trap 'kill -USR1 \"$job\" 2>/dev/null' USR1\n"
    "trap 'kill -TERM \"$job\" 2>/dev/null' TERM\n"
    "wait \"$job\"\n"
    "code=$?\n"
    "while kill -0 \"$job\" 2>/dev/null; do\n"
    "  wait \"$job\"\n"
    "  code=$?\n"
    "done\n\n"
    "# 75: it stopped at a checkpoint, and goes on from there when its turn comes again.\n"
    "if [ \"$code\" = 75 ]; then scontrol requeue \"$SLURM_JOB_ID\"; fi\n"
    "exit \"$code\"\n";

}  // namespace

Result<NodeShape> node_shape(const Plan& plan) {
  const Index world = plan.world.size;
  const Index nodes = plan.world.nodes.value_or(0), per_node = plan.world.gpus_per_node.value_or(0);
  if (nodes > 0 && world % nodes == 0) return NodeShape{nodes, world / nodes};
  if (per_node > 0 && world % per_node == 0) return NodeShape{world / per_node, per_node};
  if (nodes > 0 || per_node > 0)
    return failure(fmt::format(
        "{} ranks do not fill {} (a job has as many on each node). use a world size that is a "
        "multiple of {}",
        world, nodes > 0 ? fmt::format("{} nodes", nodes) : fmt::format("nodes of {}", per_node),
        nodes > 0 ? nodes : per_node));
  return failure(
      "the plan does not say how many ranks a node has (sbatch asks for nodes). give --nodes and "
      "--gpus-per-node, or cpplan.cluster");
}

Result<std::string> sbatch_script(const Plan& plan, const BatchProgram& program) {
  const auto shape = node_shape(plan);
  if (!shape) return tl::unexpected(shape.error());
  if (program.framework_line && !program.config_flags.empty())
    return failure(fmt::format(
        "the framework would not see {} (it reads the config's file alone). write it into the file",
        join(program.config_flags, " ")));
  const std::string config = config_words(plan, program);
  return heading(plan, *shape) + "#\n" + resources(plan, *shape, program) +
         std::string(requeue_options) + validation(config) +
         (program.framework_line ? framework_lines(*program.framework_line)
                                 : engine_lines(plan, config)) +
         std::string(ending);
}

}  // namespace cpplan::launch
