#include "report/launch_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace cpplan::report {
namespace {

struct Shape {
  Index ranks = 1, nodes = 1, per_node = 1;
  std::string first_host;
};

/// Whole nodes of equal size, or everything on one.
Shape shape_of(const plan::Plan& plan) {
  Shape shape{plan.world.size, 1, plan.world.size, "FIRST_HOST"};
  const Index per_node = plan.world.gpus_per_node.value_or(0);
  const Index nodes = per_node > 0 && shape.ranks % per_node == 0 ? shape.ranks / per_node
                                                                  : plan.world.nodes.value_or(1);
  if (nodes > 1 && shape.ranks % nodes == 0) {
    shape.nodes = nodes;
    shape.per_node = shape.ranks / nodes;
  }
  if (!plan.environment.hosts.empty()) shape.first_host = plan.environment.hosts.front();
  return shape;
}

/// "h1:8,h2:8" of the hosts that are known, else a file that lists them with slots=8.
std::string hosts_flag(const plan::Plan& plan, const Shape& shape) {
  if (shape.nodes == 1) return "";
  const auto& hosts = plan.environment.hosts;
  if (std::ssize(hosts) != shape.nodes || shape.nodes > 16)
    return fmt::format(" --hostfile HOSTS --map-by ppr:{}:node", shape.per_node);
  std::vector<std::string> slots;
  for (const std::string& host : hosts) slots.push_back(fmt::format("{}:{}", host, shape.per_node));
  return " --host " + join(slots, ",");
}

std::string program_of(const plan::Plan& plan) {
  return plan.config.dialect == config::Dialect::axolotl
             ? fmt::format("-m axolotl.cli.train {}", plan.config.file)
             : fmt::format("pretrain_gpt.py --yaml-cfg {}", plan.config.file);
}

std::string torchrun_line(const plan::Plan& plan, const Shape& shape) {
  const std::string meeting =
      shape.nodes == 1 ? "--standalone"
                       : fmt::format("--nnodes {} --rdzv-backend c10d --rdzv-endpoint {}:29500",
                                     shape.nodes, shape.first_host);
  return fmt::format("torchrun {} --nproc-per-node {} {}", meeting, shape.per_node,
                     program_of(plan));
}

std::string accelerate_line(const plan::Plan& plan, const Shape& shape) {
  const std::string machines =
      shape.nodes == 1 ? ""
                       : fmt::format(
                             " --num_machines {} --machine_rank $SLURM_NODEID --main_process_ip {} "
                             "--main_process_port 29500",
                             shape.nodes, shape.first_host);
  return fmt::format("accelerate launch --num_processes {}{} {}", shape.ranks, machines,
                     program_of(plan));
}

}  // namespace

std::vector<LaunchText> launch_lines(const plan::Plan& plan) {
  const Shape shape = shape_of(plan);
  const std::string& file = plan.config.file;
  std::vector<LaunchText> lines = {
      {"mpirun",
       fmt::format("mpirun -np {}{} cpplan run {}", shape.ranks, hosts_flag(plan, shape), file)},
      {"srun", fmt::format("srun --mpi=pmix --nodes={} --ntasks-per-node={} cpplan run {}",
                           shape.nodes, shape.per_node, file)},
      {"torchrun", torchrun_line(plan, shape)}};
  if (plan.config.dialect == config::Dialect::axolotl)
    lines.push_back({"accelerate", accelerate_line(plan, shape)});
  return lines;
}

Json launch_json(const plan::Plan& plan) {
  Json json = Json::object();
  for (const LaunchText& launch : launch_lines(plan)) json[launch.launcher] = launch.line;
  return json;
}

}  // namespace cpplan::report
