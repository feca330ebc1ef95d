#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launch/binding.hpp"

using namespace cpplan;
using namespace cpplan::launch;
namespace fs = std::filesystem;

namespace {

/// Cores that this process may run on; given back when it ends.
struct Affinity {
  cpu_set_t before{};
  Affinity() { sched_getaffinity(0, sizeof before, &before); }
  ~Affinity() { sched_setaffinity(0, sizeof before, &before); }
  static int first() {
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    int core = 0;
    while (!CPU_ISSET(static_cast<unsigned>(core), &now)) ++core;
    return core;
  }
  static int count() {
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    return CPU_COUNT(&now);
  }
};

}  // namespace

TEST_CASE("numa nodes: cores of each, in order of the nodes, and none of memory alone") {
  const fs::path root =
      fs::temp_directory_path() / ("cpplan-numa-test-" + std::to_string(getpid()));
  const auto write = [&](const std::string& node, const char* cores) {
    fs::create_directories(root / "sys/devices/system/node" / node);
    std::ofstream(root / "sys/devices/system/node" / node / "cpulist") << cores;
  };
  write("node10", "12\n"), write("node2", "4-6,8\n"), write("node1", "\n"), write("has_cpu", "0\n");
  CHECK(cluster::numa_nodes_below(root) == cluster::NumaNodes{{4, 5, 6, 8}, {12}});
  fs::remove_all(root);
  CHECK(cluster::numa_nodes_below(root).empty());
}

TEST_CASE("local place: by mpirun, and by srun from the step's list") {
  const auto mpirun =
      local_place({{"OMPI_COMM_WORLD_LOCAL_RANK", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}});
  REQUIRE(mpirun);
  CHECK(mpirun->rank == 2);
  CHECK(mpirun->ranks == 4);
  const auto srun = local_place(
      {{"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "4,3,1"}});
  REQUIRE(srun);
  CHECK(srun->rank == 1);
  CHECK(srun->ranks == 3);
  CHECK_FALSE(local_place({}));
  CHECK_FALSE(local_place({{"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "3"}}));
}

TEST_CASE("binding: ranks in equal blocks over the nodes") {
  const auto nodes_of = [](Index ranks, std::size_t nodes) {
    std::vector<std::size_t> result;
    for (Index rank = 0; rank < ranks; ++rank) result.push_back(numa_node_of({rank, ranks}, nodes));
    return result;
  };
  CHECK(nodes_of(8, 2) == std::vector<std::size_t>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(nodes_of(3, 2) == std::vector<std::size_t>{0, 0, 1});
  CHECK(nodes_of(2, 4) == std::vector<std::size_t>{0, 2});
}

TEST_CASE("binding: to cores of the node that this process was allowed before") {
  const Affinity affinity;
  const int first = Affinity::first(), all = Affinity::count();
  const int far = CPU_SETSIZE - 1;  // no machine of a test has it
  bind_to_numa_node({0, 2}, {{first, far}});
  CHECK(Affinity::count() == all);
  bind_to_numa_node({1, 2}, {{first}, {far}});
  CHECK(Affinity::count() == all);
  bind_to_numa_node({0, 2}, {{first, far}, {far}});
  CHECK(Affinity::count() == 1);
  CHECK(Affinity::first() == first);
}
