#pragma once
// A discrete-event simulation of one step: traces of ranks are replayed against each other on the
// rates and links of a hardware profile. A rank may stand for others that do the same at the same
// time.
#include <map>
#include <string>
#include <vector>

#include "cluster/hardware.hpp"
#include "engine/step_trace.hpp"

namespace cpplan::plan {

/// Who meets on a communicator of a simulated rank.
struct SimulatedGroup {
  int id = 0;                     // the same for all who meet there
  std::vector<int> members;       // the simulated rank that each rank of the group is or is like
  std::vector<int> participants;  // those, each once, in increasing order
  std::vector<bool> same_node;    // by rank of the group: whether a message to it stays in the node
  bool one_node = true;           // the whole group
  int members_of_node = 1;        // that share the ways out of it
};

struct SimulatedRank {
  engine::StepTrace trace;
  std::map<int, SimulatedGroup> groups;  // by the communicator's number in the trace
  double stands_for = 1;                 // ranks of the world, itself included
};

using SecondsByGroup = std::map<std::string, double, std::less<>>;

/// Seconds of one rank's step by what they went to; they add up to `end`.
struct SimulatedTime {
  double end = 0;
  double compute = 0;
  SecondsByGroup transfer;  // messages under way, and nothing to compute
  SecondsByGroup waiting;   // for a rank that has not come so far; "cores": for a core
};

struct SimulationSettings {
  cluster::Precision precision = cluster::Precision::bf16;
  cluster::Neighbours neighbours = cluster::Neighbours::idle;
};

/// Contract: every message of a trace has its counterpart in another.
std::vector<SimulatedTime> simulate(const std::vector<SimulatedRank>&,
                                    const cluster::HardwareProfile&, const SimulationSettings&);

}  // namespace cpplan::plan
