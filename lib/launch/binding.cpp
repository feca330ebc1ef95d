#include "launch/binding.hpp"

#include <sched.h>

#include <charconv>

#include "base/contract.hpp"
#include "cluster/slurm_lists.hpp"

namespace cpplan::launch {
namespace {

std::optional<Index> number(const cluster::Variables& variables, std::string_view name) {
  const auto it = variables.find(name);
  if (it == variables.end()) return {};
  Index value = -1;
  const std::string& text = it->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

std::optional<LocalPlace> valid(std::optional<Index> rank, std::optional<Index> ranks) {
  if (!rank || !ranks || *rank >= *ranks) return {};
  return LocalPlace{*rank, *ranks};
}

/// Of the step's "4,3,1" the entry of this node.
std::optional<Index> tasks_of_step_here(const cluster::Variables& variables) {
  const auto list = variables.find("SLURM_STEP_TASKS_PER_NODE");
  const auto node = number(variables, "SLURM_NODEID");
  if (list == variables.end() || !node) return {};
  const auto tasks = cluster::parse_tasks_per_node(list->second);
  if (!tasks || *node >= std::ssize(*tasks)) return {};
  return (*tasks)[static_cast<std::size_t>(*node)];
}

}  // namespace

std::optional<LocalPlace> local_place(const cluster::Variables& variables) {
  const auto below_mpirun = valid(number(variables, "OMPI_COMM_WORLD_LOCAL_RANK"),
                                  number(variables, "OMPI_COMM_WORLD_LOCAL_SIZE"));
  if (below_mpirun) return below_mpirun;
  return valid(number(variables, "SLURM_LOCALID"), tasks_of_step_here(variables));
}

std::size_t numa_node_of(const LocalPlace& place, std::size_t nodes) {
  expect(nodes > 0, "a machine has a NUMA node");
  return static_cast<std::size_t>(place.rank) * nodes / static_cast<std::size_t>(place.ranks);
}

void bind_to_numa_node(const LocalPlace& place, const cluster::NumaNodes& nodes) {
  cpu_set_t allowed, wanted;
  if (nodes.size() < 2 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&wanted);
  for (const int core : nodes[numa_node_of(place, nodes.size())])
    if (core < CPU_SETSIZE && CPU_ISSET(static_cast<unsigned>(core), &allowed))
      CPU_SET(static_cast<unsigned>(core), &wanted);
  if (CPU_COUNT(&wanted) > 0) sched_setaffinity(0, sizeof wanted, &wanted);
}

}  // namespace cpplan::launch
