#include <doctest/doctest.h>

#include <algorithm>

#include "launch/command.hpp"
#include "launch/started_as.hpp"

using namespace cpplan;
using namespace cpplan::launch;

namespace {

RankCommand eight_ranks(User user) {
  return {.world = 8,
          .executable = "/opt/cpplan",
          .arguments = {"run", "my config.yaml", "--steps", "3"},
          .folder = {"/dev/shm/cpplan-abc"},
          .user = user};
}

std::string value_of(const Command& command, std::string_view name) {
  for (const auto& [variable, value] : command.environment)
    if (variable == name) return value;
  return "(unset)";
}

}  // namespace

TEST_CASE("mpirun command: every rank is this program with the same arguments") {
  const Command command = mpirun_command(eight_ranks(User::other));
  CHECK(command.arguments == std::vector<std::string>{"mpirun", "--tag-output", "-n", "8",
                                                      "/opt/cpplan", "run", "my config.yaml",
                                                      "--steps", "3"});
}

TEST_CASE("mpirun command: more ranks than cores neither spin nor are refused") {
  const Command command = mpirun_command(eight_ranks(User::other));
  CHECK(value_of(command, "OMPI_MCA_mpi_yield_when_idle") == "1");
  CHECK(value_of(command, "OMPI_MCA_rmaps_base_oversubscribe") == "1");
  CHECK(value_of(command, "OMPI_MCA_hwloc_base_binding_policy") == "none");
  CHECK(value_of(command, "OMPI_MCA_btl") == "self,vader");
  CHECK(value_of(command, "OMP_NUM_THREADS") == "1");
}

TEST_CASE("mpirun command: what ranks share lies in the scratch folder") {
  const Command command = mpirun_command(eight_ranks(User::other));
  CHECK(value_of(command, run_folder_variable) == "/dev/shm/cpplan-abc");
  CHECK(value_of(command, "OMPI_MCA_btl_vader_backing_directory") ==
        "/dev/shm/cpplan-abc/segments");
  CHECK(value_of(command, "OMPI_MCA_orte_tmpdir_base") == "/dev/shm/cpplan-abc/session");
}

TEST_CASE("mpirun command: root says that it means it and others do not") {
  CHECK(value_of(mpirun_command(eight_ranks(User::root)), "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == "1");
  CHECK(value_of(mpirun_command(eight_ranks(User::other)), "OMPI_ALLOW_RUN_AS_ROOT") == "(unset)");
}

TEST_CASE("shell line: can be pasted into a shell") {
  const Command command{.arguments = {"mpirun", "it's", "a b", "", "x.yaml"},
                        .environment = {{"A", "1"}, {"B", "$HOME"}}};
  CHECK(shell_line(command) == R"(A=1 B='$HOME' mpirun 'it'\''s' 'a b' '' x.yaml)");
}

TEST_CASE("started as: the launcher has no rank") {
  const auto identity = started_as({{"SLURM_PROCID", "0"}, {"PATH", "/bin"}});
  REQUIRE(identity);
  CHECK_FALSE(*identity);
}

TEST_CASE("started as: ranks of ours know their folder and those of others have none") {
  cluster::Variables variables = {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  const auto foreign = started_as(variables);
  REQUIRE(foreign);
  CHECK((*foreign)->rank == 3);
  CHECK((*foreign)->world == 4);
  CHECK_FALSE((*foreign)->folder);
  variables["CPPLAN_RUN_FOLDER"] = "/dev/shm/x";
  CHECK((*started_as(variables))->folder->path == "/dev/shm/x");
  CHECK((*started_as(variables))->watched == record::WatchedThrough::folder);
}

TEST_CASE("started as: one task of a step is a shell unless we have started it") {
  cluster::Variables variables = {{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}};
  CHECK_FALSE(*started_as(variables));
  variables[std::string(reports_variable)] = "1";
  const auto rank = started_as(variables);
  REQUIRE(rank);
  REQUIRE(*rank);
  CHECK((*rank)->watched == record::WatchedThrough::output);
  CHECK_FALSE((*rank)->folder);
}

TEST_CASE("started as: what our launcher has started is never a launcher") {
  for (const std::string_view ours : {run_folder_variable, reports_variable}) {
    const auto nobody = started_as({{std::string(ours), "1"}, {"SLURM_STEP_NUM_TASKS", "4"}});
    REQUIRE_FALSE(nobody);
    CHECK(nobody.error().message.find("rank") != std::string::npos);
    CHECK_FALSE(started_as({{std::string(ours), "1"}}));
  }
}

TEST_CASE("started as: contradicting variables are an error that names both") {
  const auto wrong = started_as({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("rank 4 of 4 does not exist") == 0);
  CHECK_FALSE(started_as({{"OMPI_COMM_WORLD_RANK", "4"}}));
}
