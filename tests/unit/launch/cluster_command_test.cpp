#include <doctest/doctest.h>

#include <algorithm>

#include "launch/cluster_command.hpp"
#include "launch/started_as.hpp"

using namespace cpplan;
using namespace cpplan::launch;

namespace {

ClusterCommand on(std::string_view hosts, Index world) {
  return {.placement = *Placement::fill(*parse_hosts(hosts), world),
          .executable = "/opt/cpplan",
          .arguments = {"run", "x.yaml"},
          .network = "10.0.0.0/24"};
}

std::string value_of(const Command& command, std::string_view name) {
  for (const auto& [variable, value] : command.environment)
    if (variable == name) return value;
  return "(unset)";
}

bool has(const Command& command, std::string_view word) {
  return std::ranges::count(command.arguments, word) == 1;
}

}  // namespace

TEST_CASE("mpirun over hosts: as many slots as ranks on each") {
  const Command command = mpirun_over_hosts(on("a:4,b:3", 6));
  CHECK(shell_line({.arguments = command.arguments, .environment = {}}) ==
        "mpirun --tag-output -n 6 --host a:4,b:2 -x OMP_NUM_THREADS=1 -x CPPLAN_REPORTS=1 "
        "/opt/cpplan run x.yaml");
  CHECK(value_of(command, "OMPI_MCA_rmaps_base_mapping_policy") == "slot");
  CHECK(value_of(command, "OMPI_MCA_mpi_yield_when_idle") == "1");
  CHECK(value_of(command, "OMPI_MCA_btl") == "self,vader,tcp");
  CHECK(value_of(command, "OMPI_MCA_btl_tcp_if_include") == "10.0.0.0/24");
  CHECK(value_of(command, "OMPI_MCA_oob_tcp_if_include") == "10.0.0.0/24");
}

TEST_CASE("mpirun over hosts: what the user has set stays and InfiniBand is Open MPI's") {
  ClusterCommand ranks = on("a:1,b:1", 2);
  ranks.ours = {{"OMPI_MCA_btl_tcp_if_include", "eth7"}, {"OMP_NUM_THREADS", "4"}};
  const Command command = mpirun_over_hosts(ranks);
  CHECK(value_of(command, "OMPI_MCA_btl_tcp_if_include") == "(unset)");
  CHECK(value_of(command, "OMPI_MCA_btl") == "self,vader,tcp");
  CHECK(has(command, "OMP_NUM_THREADS=1"));
  ranks.infiniband = true;
  CHECK(value_of(mpirun_over_hosts(ranks), "OMPI_MCA_pml") == "(unset)");
}

TEST_CASE("srun: even shares by their size and others by name") {
  const Command even = srun_command(on("a:2,b:2", 4));
  CHECK(shell_line({.arguments = even.arguments, .environment = {}}) ==
        "srun --mpi=pmix --label --kill-on-bad-exit=1 --ntasks=4 --nodes=2 --ntasks-per-node=2 "
        "--distribution=block --nodelist=a,b --cpu-bind=none --export=ALL /opt/cpplan run x.yaml");
  CHECK(value_of(even, reports_variable) == "1");
  CHECK(even.signals == SignalReach::process);
  const Command uneven = srun_command(on("a:2,b:1", 3));
  CHECK(has(uneven, "--distribution=arbitrary"));
  CHECK(has(uneven, "--nodelist=a,a,b"));
}

TEST_CASE("srun: a shell that is a step itself shares its cores") {
  ClusterCommand ranks = on("a:2", 2);
  CHECK_FALSE(has(srun_command(ranks), "--overlap"));
  ranks.ours = {{"SLURM_STEP_ID", "0"}};
  CHECK(has(srun_command(ranks), "--overlap"));
}

TEST_CASE("srun: pmix alone tells ranks apart, in the lists of old and new SLURM") {
  CHECK(*best_mpi_type("MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\nspecific pmix plugin "
                       "versions available: pmix_v4\n") == "pmix");
  CHECK(*best_mpi_type("srun: MPI types are...\nsrun: none\nsrun: pmix\n") == "pmix");
  CHECK_FALSE(best_mpi_type("srun: MPI types are...\nsrun: none\nsrun: pmi2\n"));
  CHECK_FALSE(best_mpi_type("MPI plugin types are...\n\tnone\n\tcray_shasta\n"));
  CHECK_FALSE(best_mpi_type(""));
}
