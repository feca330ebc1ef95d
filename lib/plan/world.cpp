#include "plan/world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "diag/rule_table.hpp"
#include "plan/degrees.hpp"

namespace cpplan::plan {
namespace {

/// All that the search looks at.
struct Sources {
  const config::TrainingConfig& config;
  const PlanInputs& inputs;
  const cluster::Environment& environment;
  diag::Diagnostics& findings;

  /// GPUs of a node by the nearest source that knows.
  std::optional<Index> gpus_per_node() const {
    if (inputs.gpus_per_node) return inputs.gpus_per_node;
    if (environment.gpus_per_node) return environment.gpus_per_node;
    return config.cluster.gpus_per_node.value;
  }
};

std::optional<World> nodes_times_gpus(std::optional<Index> nodes, std::optional<Index> gpus,
                                      std::string source) {
  if (!nodes || !gpus || *nodes < 1 || *gpus < 1) return std::nullopt;
  const auto size = checked_multiply(*nodes, *gpus);
  if (!size) return std::nullopt;
  return World{*size, std::move(source), nodes, gpus};
}

void report_contradicting_flags(const Sources& s, const World& flags) {
  s.findings.push_back(diag::finding(
      "CP504", {},
      fmt::format("--world-size {} contradicts --nodes {} x --gpus-per-node {} = {}",
                  *s.inputs.world_size, *flags.nodes, *flags.gpus_per_node, flags.size),
      {.why = "each of them fixes the number of ranks",
       .help = {fmt::format("leave out --world-size, or use --world-size {}", flags.size)}}));
}

std::optional<World> from_flags(const Sources& s) {
  auto product = nodes_times_gpus(s.inputs.nodes, s.gpus_per_node(), "--nodes x GPUs per node");
  if (!s.inputs.world_size) return product;
  const bool both = product && s.inputs.gpus_per_node;
  if (both && product->size != *s.inputs.world_size) report_contradicting_flags(s, *product);
  return World{*s.inputs.world_size, "--world-size", s.inputs.nodes, s.inputs.gpus_per_node};
}

/// SLURM started one task a node: ranks where the degrees divide them, else launchers.
std::optional<World> from_one_task_per_node(const Sources& s, const World& tasks) {
  if (auto launched =
          nodes_times_gpus(tasks.nodes, s.gpus_per_node(), "SLURM nodes x GPUs per node");
      launched && *launched->gpus_per_node > 1) {
    auto note = diag::finding(
        "CP505", {},
        fmt::format(
            "one SLURM task on each of {} nodes is taken for a launcher of {} ranks: {} in all",
            *launched->nodes, *launched->gpus_per_node, launched->size),
        {.why = "torchrun and accelerate start one rank a GPU below such a task",
         .help = {fmt::format("if the tasks are the ranks, use --world-size {}", tasks.size)}});
    note.severity = diag::Severity::note;
    s.findings.push_back(std::move(note));
    return launched;
  }
  const auto block = model_parallel_size(requested_degrees(s.config));
  if (block && tasks.size % *block == 0) return tasks;
  s.findings.push_back(diag::finding(
      "CP505", {},
      fmt::format("{} gives one task on each of {} nodes, which TP*CP*PP cannot divide; the world "
                  "size is taken from elsewhere",
                  tasks.source, tasks.size),
      {.why =
           "either each task is a launcher of several ranks, or more tasks on a node were meant: "
           "-N sets nodes and -n sets tasks",
       .help = {"say how many GPUs a node has with --gpus-per-node N",
                fmt::format("if {} ranks were meant on one node, use srun -N 1 -n {}", tasks.size,
                            tasks.size)}}));
  return std::nullopt;
}

std::optional<World> from_launch_command(const Sources& s) {
  if (!s.inputs.launched) return std::nullopt;
  return World{*s.inputs.launched, "--launch-command", s.inputs.nodes, s.gpus_per_node()};
}

std::optional<World> from_environment(const Sources& s) {
  const auto& e = s.environment;
  if (!e.ranks) return std::nullopt;
  const World ranks{e.ranks->size, e.ranks->source, e.nodes, s.gpus_per_node()};
  const bool launchers = e.ranks->source.starts_with("SLURM") && e.one_task_per_node();
  return launchers ? from_one_task_per_node(s, ranks) : ranks;
}

std::optional<World> from_cluster(const Sources& s) {
  const auto& cluster = s.config.cluster;
  if (!cluster.nodes.given() && !cluster.gpus_per_node.given()) return std::nullopt;
  return nodes_times_gpus(cluster.nodes.value_or(1), s.gpus_per_node(), "cpplan.cluster");
}

std::optional<World> from_one_node(const Sources& s) {
  return nodes_times_gpus(1, s.inputs.gpus_per_node, "--gpus-per-node");
}

/// Fewest data-parallel ranks that Megatron's expert grid needs: ETP * EP divides TP * CP * DP.
std::optional<Index> fewest_megatron_ranks(const config::TrainingConfig& config) {
  const Degrees degrees = requested_degrees(config);
  const auto& etp = config.megatron.expert_tensor_parallel_size;
  const Index ep = std::max<Index>(1, config.parallel.expert_parallel_size.value_or(1));
  const auto experts = checked_multiply(std::max<Index>(1, etp.value_or(degrees.tp)), ep);
  const auto others = checked_multiply(degrees.tp, degrees.cp);
  if (!experts || !others) return std::nullopt;
  return ep == 1 ? 1 : *experts / std::gcd(*experts, *others);
}

/// data_parallel_size is a check where the world is known, and a factor of it here.
World from_degrees(const Sources& s) {
  const auto& p = s.config.parallel;
  const auto factor = [](const config::Setting<Index>& setting) {
    return std::max<Index>(1, setting.value_or(1));
  };
  const bool megatron = s.config.dialect == config::Dialect::megatron;
  const auto filled = megatron
                          ? fewest_megatron_ranks(s.config)
                          : checked_product(factor(p.dp_shard_size), factor(p.dp_replicate_size),
                                            factor(p.expert_parallel_size));
  const auto dp = p.data_parallel_size.given() ? factor(p.data_parallel_size) : filled;
  const auto block = model_parallel_size(requested_degrees(s.config));
  const auto size = block && dp ? checked_multiply(*block, *dp) : std::nullopt;
  return {size.value_or(1), "product of the degrees", std::nullopt, std::nullopt};
}

}  // namespace

World find_world(const config::TrainingConfig& config, const PlanInputs& inputs,
                 const cluster::Environment& environment, diag::Diagnostics& findings) {
  const Sources sources{config, inputs, environment, findings};
  for (const auto& source :
       {from_flags, from_launch_command, from_environment, from_cluster, from_one_node})
    if (auto world = source(sources)) return *world;
  return from_degrees(sources);
}

}  // namespace cpplan::plan
