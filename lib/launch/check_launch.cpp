#include "launch/check_launch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::launch {
namespace {
using diag::Diagnostics;
using diag::finding;

bool starts_per_node(Launcher launcher) {
  return launcher == Launcher::torchrun || launcher == Launcher::accelerate;
}

std::optional<Index> slots_of(const std::vector<HostSlots>& hosts) {
  std::optional<Index> sum = 0;
  for (const HostSlots& host : hosts) sum = checked_sum(sum, host.slots);
  return sum;
}

/// "h1:8,h2:8": the same hosts with room for all ranks.
std::string hosts_with_slots(const std::vector<HostSlots>& hosts, Index ranks) {
  std::vector<std::string> names, parts;
  for (const HostSlots& host : hosts)
    if (!std::ranges::count(names, host.name)) names.push_back(host.name);
  for (const std::string& name : names)
    parts.push_back(fmt::format("{}:{}", name, ceil_div(ranks, std::ssize(names))));
  return join(parts, ",");
}

bool allows_more_ranks_than_slots(const LaunchLine& line) {
  const auto placement = line.settings.find(Meaning::placement);
  const bool by_map = placement != line.settings.end() &&
                      lower_case(placement->second.text).find("oversubscribe") != std::string::npos;
  return line.has(Meaning::more_ranks_than_slots) || by_map;
}

void check_slots(const LaunchLine& line, Diagnostics& findings) {
  const auto hosts = host_slots(line);
  const auto ranks = line.count(Meaning::ranks);
  const auto slots = slots_of(hosts);
  if (line.launcher != Launcher::mpirun || hosts.empty() || !ranks || !slots) return;
  if (*ranks <= *slots || allows_more_ranks_than_slots(line)) return;
  const std::string wanted = hosts_with_slots(hosts, *ranks);
  findings.push_back(finding(
      "CP522", line.place(Meaning::hosts), fmt::format("{} slots for {} ranks", *slots, *ranks),
      {.label = fmt::format("{} slots", *slots),
       .why = "each bare host of a list is one slot, and mpirun starts one rank a slot",
       .help = {fmt::format("write --host {}", wanted),
                "or name a --hostfile whose lines say slots=N"},
       .related = {
           {fmt::format("{} ranks are asked for here", *ranks), line.place(Meaning::ranks)}}}));
}

/// "ppr:8:node" of --map-by.
std::optional<Index> ranks_of_a_node(const LaunchLine& line) {
  if (line.has(Meaning::one_rank_per_node)) return 1;
  if (line.has(Meaning::ranks_per_node)) return line.count(Meaning::ranks_per_node);
  const auto placement = line.settings.find(Meaning::placement);
  if (placement == line.settings.end()) return std::nullopt;
  const std::string text = lower_case(placement->second.text);
  const auto at = text.find(":node");
  if (!text.starts_with("ppr:") || at == text.npos) return std::nullopt;
  Index n = 0;
  for (const char c : text.substr(4, at - 4)) {
    if (c < '0' || c > '9' || n > 1'000'000) return std::nullopt;
    n = 10 * n + (c - '0');
  }
  return n >= 1 ? std::optional(n) : std::nullopt;
}

const diag::Span& place_of_per_node(const LaunchLine& line) {
  return line.has(Meaning::ranks_per_node) ? line.place(Meaning::ranks_per_node)
                                           : line.place(Meaning::placement);
}

/// Nodes that the line names or counts; 0 where it does neither.
Index nodes_of(const LaunchLine& line) {
  if (line.has(Meaning::nodes)) return line.count(Meaning::nodes).value_or(0);
  return std::ssize(host_slots(line));
}

/// Ranks in all against nodes times ranks of each, where the line says all three.
void check_per_node(const LaunchLine& line, Diagnostics& findings) {
  const Index ranks = line.count(Meaning::ranks).value_or(0);
  const Index per_node = ranks_of_a_node(line).value_or(0), nodes = nodes_of(line);
  if (line.launcher == Launcher::accelerate || ranks == 0 || per_node == 0 || nodes == 0) return;
  const auto room = checked_multiply(per_node, nodes);
  if (!room || ranks <= *room) return;
  findings.push_back(finding(
      "CP522", place_of_per_node(line),
      fmt::format("{} ranks on each of {} nodes are {}, not {}", per_node, nodes, *room, ranks),
      {.why = "no more ranks than that start on a node",
       .help = {
           fmt::format("ask for {} ranks, or for {} on a node", *room, ceil_div(ranks, nodes))}}));
}

bool assigns(const Words& words, std::string_view name) {
  return std::ranges::any_of(words, [&](const Word& word) {
    return word.text.starts_with(name) && word.text.size() > name.size() &&
           word.text[name.size()] == '=' && !word.text.ends_with("=0");
  });
}

void check_root(const LaunchLine& line, const plan::Plan& plan, Diagnostics& findings) {
  const auto& uid = plan.config.launch.uid;
  if (line.launcher != Launcher::mpirun || !uid.given() || *uid != 0) return;
  const bool by_environment = assigns(line.before, "OMPI_ALLOW_RUN_AS_ROOT") &&
                              assigns(line.before, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM");
  if (line.has(Meaning::root_allowed) || by_environment) return;
  findings.push_back(
      finding("CP523", line.launcher_word.span, "mpirun is started by root (user id 0)",
              {.why = "Open MPI refuses to run as root unless it is told to",
               .help = {"add --allow-run-as-root (Open MPI alone has it)",
                        "or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}}));
}

/// Where the number of ranks stands that does not match.
const diag::Span& place_of_ranks(const LaunchLine& line) {
  const LaunchLine& counts = line.inside ? *line.inside : line;
  for (const Meaning m : {Meaning::ranks, Meaning::ranks_per_node, Meaning::nodes})
    if (counts.has(m)) return counts.place(m);
  return line.has(Meaning::ranks) ? line.place(Meaning::ranks) : line.launcher_word.span;
}

/// accelerate counts processes of all machines, and people give those of one.
std::string help_for_count(const LaunchLine& line, Index started, Index world) {
  const LaunchLine& counts = line.inside ? *line.inside : line;
  if (counts.launcher == Launcher::accelerate)
    return fmt::format("write --num_processes {}: it counts the processes of all machines", world);
  if (counts.launcher == Launcher::torchrun &&
      world % std::max<Index>(1, counts.count(Meaning::nodes).value_or(1)) == 0)
    return fmt::format("write --nproc-per-node {}",
                       world / counts.count(Meaning::nodes).value_or(1));
  return fmt::format("start {} ranks, or plan with --world-size {}", world, started);
}

void check_rank_count(const LaunchLine& line, const plan::Plan& plan, Diagnostics& findings) {
  const auto started = ranks_started(line, plan.world.gpus_per_node);
  if (!started || *started == plan.world.size) return;
  findings.push_back(
      finding("CP524", place_of_ranks(line),
              fmt::format("the command starts {} ranks, and the plan has {} (from {})", *started,
                          plan.world.size, plan.world.source),
              {.why = "batch size, steps and groups follow from the number of ranks",
               .help = {help_for_count(line, *started, plan.world.size)}}));
}

void check_machines(const LaunchLine& line, Diagnostics& findings) {
  const auto ranks = line.count(Meaning::ranks), machines = line.count(Meaning::nodes);
  if (line.launcher != Launcher::accelerate || !ranks || !machines || *ranks % *machines == 0)
    return;
  findings.push_back(
      finding("CP524", line.place(Meaning::ranks),
              fmt::format("{} processes do not divide over {} machines", *ranks, *machines),
              {.why = "accelerate starts as many on each machine",
               .help = {fmt::format("write --num_processes {} or {}",
                                    std::max(*machines, *ranks / *machines * *machines),
                                    round_up(*ranks, *machines))}}));
}

/// Several nodes, and nobody says where they meet: each waits for itself.
void check_rendezvous(const LaunchLine& line, Diagnostics& findings) {
  const auto nodes = line.count(Meaning::nodes);
  if (!starts_per_node(line.launcher) || !nodes || *nodes < 2) return;
  if (line.has(Meaning::standalone)) {
    findings.push_back(
        finding("CP525", line.flags.at(Meaning::standalone).span,
                fmt::format("--standalone is for one node, and {} are asked for", *nodes),
                {.why = "each node would be a world of its own",
                 .help = {"write --rdzv-backend c10d --rdzv-endpoint HOST:29500"}}));
    return;
  }
  if (line.has(Meaning::rendezvous) || line.has(Meaning::config_file)) return;
  const bool torch = line.launcher == Launcher::torchrun;
  findings.push_back(
      finding("CP525", line.place(Meaning::nodes),
              fmt::format("{} nodes are not told where they meet", *nodes),
              {.why = "each node would wait at its own localhost",
               .help = {torch ? "add --rdzv-backend c10d --rdzv-endpoint FIRST_HOST:29500"
                              : "add --main_process_ip FIRST_HOST --machine_rank N"}}));
}

std::optional<Index> tasks_per_node(const LaunchLine& srun) {
  if (srun.has(Meaning::ranks_per_node)) return srun.count(Meaning::ranks_per_node);
  const auto tasks = srun.count(Meaning::ranks), nodes = srun.count(Meaning::nodes);
  if (!tasks || !nodes) return std::nullopt;
  return ceil_div(*tasks, *nodes);
}

void check_nested(const LaunchLine& line, Diagnostics& findings) {
  if (line.launcher != Launcher::srun || !line.inside || !starts_per_node(line.inside->launcher))
    return;
  const LaunchLine& inside = *line.inside;
  const auto tasks = tasks_per_node(line);
  if (tasks && *tasks > 1)
    findings.push_back(
        finding("CP526",
                line.has(Meaning::ranks_per_node) ? line.place(Meaning::ranks_per_node)
                                                  : line.place(Meaning::ranks),
                fmt::format("srun starts {} {} on each node", *tasks, name_of(inside.launcher)),
                {.why = "each of them starts a rank for every GPU of its node",
                 .help = {"write srun --ntasks-per-node=1"},
                 .related = {{"the launcher of the ranks", inside.launcher_word.span}}}));
  const auto outer = line.count(Meaning::nodes), inner = inside.count(Meaning::nodes);
  if (outer && inner && *outer != *inner)
    findings.push_back(finding("CP526", inside.place(Meaning::nodes),
                               fmt::format("{} waits for {} nodes and srun starts it on {}",
                                           name_of(inside.launcher), *inner, *outer),
                               {.why = "the ranks wait for nodes that never come",
                                .help = {fmt::format("use {} for both", *outer)},
                                .related = {{"srun's nodes", line.place(Meaning::nodes)}}}));
}

void check_mpi_plugin(const LaunchLine& line, Diagnostics& findings) {
  const auto plugin = line.settings.find(Meaning::mpi_plugin);
  const bool ranks = line.launcher == Launcher::srun && !line.inside;
  if (!ranks || plugin == line.settings.end() || plugin->second.expands) return;
  if (plugin->second.text.starts_with("pmix")) return;
  findings.push_back(
      finding("CP527", plugin->second.span,
              fmt::format("srun --mpi={} does not tell Open MPI's ranks of each other",
                          plugin->second.text),
              {.why = "Open MPI speaks PMIx: each task would be a world of one rank",
               .help = {"write --mpi=pmix"}}));
}

/// A framework started by mpirun itself sees neither RANK nor WORLD_SIZE.
void check_world_size(const LaunchLine& line, Diagnostics& findings) {
  if (line.launcher != Launcher::mpirun || line.inside || line.program.empty()) return;
  const std::string& program = line.program.front().text;
  const bool framework = program.find("python") != program.npos || program.ends_with("axolotl");
  if (!framework || assigns(line.before, "WORLD_SIZE")) return;
  findings.push_back(
      finding("CP503", line.program.front().span, "mpirun sets no WORLD_SIZE, RANK and LOCAL_RANK",
              {.why = "axolotl and Megatron read these alone and would each plan for 1 rank",
               .help = {"start torchrun once a node, or a wrapper that exports WORLD_SIZE from "
                        "OMPI_COMM_WORLD_SIZE, RANK and LOCAL_RANK alike"}}));
}

}  // namespace

Diagnostics check_launch(const LaunchLine& line, const plan::Plan& plan) {
  Diagnostics findings;
  for (const LaunchLine* part = &line; part != nullptr; part = part->inside.get()) {
    check_slots(*part, findings);
    check_per_node(*part, findings);
    check_root(*part, plan, findings);
    check_machines(*part, findings);
    check_rendezvous(*part, findings);
    check_nested(*part, findings);
    check_mpi_plugin(*part, findings);
    check_world_size(*part, findings);
  }
  check_rank_count(line, plan, findings);
  return findings;
}

}  // namespace cpplan::launch
