#include "cluster/environment.hpp"

#include <doctest/doctest.h>

using namespace cpplan;
using cluster::read_environment;
using cluster::Variables;

TEST_CASE("environment: WORLD_SIZE wins over the launchers") {
  const auto e = read_environment(
      {{"WORLD_SIZE", "16"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"SLURM_NTASKS", "4"}});
  REQUIRE(e.ranks);
  CHECK(e.ranks->size == 16);
  CHECK(e.ranks->source == "WORLD_SIZE");
  REQUIRE(e.findings.size() == 1);
  CHECK(e.findings[0].id == "CP506");
  CHECK(e.findings[0].message == "WORLD_SIZE=16 but OMPI_COMM_WORLD_SIZE=8");
}

TEST_CASE("environment: torchrun below one task a node counts more ranks than the launcher") {
  const auto e = read_environment(
      {{"WORLD_SIZE", "16"}, {"LOCAL_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  CHECK(e.ranks->size == 16);
  CHECK(e.findings.empty());
}

TEST_CASE("environment: a rank beyond its world contradicts it") {
  const auto e = read_environment({{"WORLD_SIZE", "8"}, {"RANK", "8"}});
  REQUIRE(e.findings.size() == 1);
  CHECK(e.findings[0].message == "RANK=8 is no rank of WORLD_SIZE 8");
  const auto local = read_environment(
      {{"WORLD_SIZE", "8"}, {"RANK", "7"}, {"LOCAL_WORLD_SIZE", "4"}, {"LOCAL_RANK", "7"}});
  REQUIRE(local.findings.size() == 1);
  CHECK(local.findings[0].message == "LOCAL_RANK=7 is no rank of LOCAL_WORLD_SIZE 4");
}

TEST_CASE("environment: the local rank comes from the launcher and never from the global rank") {
  const auto mpi = read_environment({{"OMPI_COMM_WORLD_RANK", "8"},
                                     {"OMPI_COMM_WORLD_SIZE", "16"},
                                     {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"}});
  REQUIRE(mpi.local_rank);
  CHECK(mpi.local_rank->number == 0);
  CHECK(mpi.local_rank->source == "OMPI_COMM_WORLD_LOCAL_RANK");
  const auto task =
      read_environment({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "5"}, {"SLURM_LOCALID", "1"}});
  REQUIRE(task.local_rank);
  CHECK(task.local_rank->number == 1);
  CHECK_FALSE(read_environment({{"SLURM_LOCALID", "0"}}).local_rank);  // a batch script
}

TEST_CASE("environment: hosts are those of the step or else of the job") {
  const auto job = read_environment({{"SLURM_NTASKS", "4"},
                                     {"SLURM_TASKS_PER_NODE", "1(x4)"},
                                     {"SLURM_JOB_NODELIST", "jean-zay-ia[08-10,12]"}});
  REQUIRE(job.hosts.size() == 4);
  CHECK(job.hosts[0] == "jean-zay-ia08");
  CHECK(job.nodes == 4);
  Variables step = {
      {"SLURM_NNODES", "1"}, {"SLURM_STEP_NODELIST", "cp2"}, {"SLURM_JOB_NODELIST", "cp[1-3]"}};
  CHECK(read_environment(step).hosts == std::vector<std::string>{"cp2"});
  step.erase("SLURM_NNODES");
  step.emplace("SLURM_NNODES", "3");  // an interactive step speaks for its job
  CHECK(read_environment(step).hosts.size() == 3);
  CHECK(read_environment(step).findings.empty());
}

TEST_CASE("environment: SLURM's counts of nodes and of tasks on a node are compared") {
  const auto nodes = read_environment({{"SLURM_NNODES", "2"}, {"SLURM_JOB_NODELIST", "cp[1-3]"}});
  REQUIRE(nodes.findings.size() == 1);
  CHECK(nodes.findings[0].message == "SLURM counts 2 nodes but SLURM_JOB_NODELIST lists 3");
  const auto tasks = read_environment(
      {{"SLURM_NNODES", "2"}, {"SLURM_NTASKS", "9"}, {"SLURM_NTASKS_PER_NODE", "4"}});
  REQUIRE(tasks.findings.size() == 1);
  CHECK(tasks.findings[0].help[0] == "use --ntasks=8, or --ntasks-per-node=5");
}

TEST_CASE("environment: Open MPI alone warns that frameworks read WORLD_SIZE") {
  const auto e = read_environment({{"OMPI_COMM_WORLD_SIZE", "8"}});
  REQUIRE(e.ranks);
  CHECK(e.ranks->size == 8);
  REQUIRE(e.findings.size() == 1);
  CHECK(e.findings[0].severity == diag::Severity::warning);
  CHECK(e.findings[0].help[0] == "export WORLD_SIZE=8");
}

TEST_CASE("environment: inside a rank of mpirun that is a note") {
  const auto e = read_environment({{"OMPI_COMM_WORLD_SIZE", "16"}, {"OMPI_COMM_WORLD_RANK", "8"}});
  REQUIRE(e.findings.size() == 1);
  CHECK(e.findings[0].severity == diag::Severity::note);
}

TEST_CASE("environment: SLURM's run-length list is read") {
  const auto e = read_environment(
      {{"SLURM_NNODES", "3"}, {"SLURM_NTASKS", "11"}, {"SLURM_TASKS_PER_NODE", "4(x2),3"}});
  CHECK(e.tasks_per_node == std::vector<Index>{4, 4, 3});
  CHECK(e.ranks->size == 11);
  CHECK(e.nodes == 3);
  CHECK(e.findings.empty());
  CHECK_FALSE(e.one_task_per_node());
}

TEST_CASE("environment: SLURM variables that contradict each other are an error") {
  const auto e = read_environment(
      {{"SLURM_NNODES", "2"}, {"SLURM_NTASKS", "8"}, {"SLURM_TASKS_PER_NODE", "8(x2)"}});
  REQUIRE(e.findings.size() == 1);
  CHECK(e.findings[0].severity == diag::Severity::error);
  CHECK(e.findings[0].message.find("SLURM_NTASKS=8") != std::string::npos);
  CHECK(e.findings[0].message.find("16 tasks") != std::string::npos);
}

TEST_CASE("environment: nodes times tasks per node where SLURM_NTASKS is missing") {
  const auto e = read_environment({{"SLURM_NNODES", "2"}, {"SLURM_NTASKS_PER_NODE", "4"}});
  REQUIRE(e.ranks);
  CHECK(e.ranks->size == 8);
  CHECK(e.ranks->source == "SLURM_NNODES x SLURM_NTASKS_PER_NODE");
}

TEST_CASE("environment: one task a node is recognised with its GPUs") {
  const auto e = read_environment({{"SLURM_NNODES", "2"},
                                   {"SLURM_NTASKS", "2"},
                                   {"SLURM_TASKS_PER_NODE", "1(x2)"},
                                   {"SLURM_GPUS_PER_NODE", "h100:8"}});
  CHECK(e.one_task_per_node());
  CHECK(e.gpus_per_node == 8);
}

TEST_CASE("environment: tasks of a step need a process manager to find each other") {
  cluster::Variables step = {
      {"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "2"}, {"SLURM_STEP_NUM_TASKS", "4"}};
  const auto lonely = read_environment(step);
  REQUIRE(lonely.findings.size() == 1);
  CHECK(lonely.findings[0].id == "CP510");
  step.emplace("PMIX_RANK", "2");
  CHECK(read_environment(step).findings.empty());
}

TEST_CASE("environment: unreadable values are findings and not numbers") {
  for (const char* text : {"", "many", "0", "-4", "8x", "99999999999999999999"}) {
    CAPTURE(text);
    const auto e = read_environment({{"WORLD_SIZE", text}});
    CHECK_FALSE(e.ranks);
    REQUIRE(e.findings.size() == 1);
    CHECK(e.findings[0].id == "CP501");
  }
}

TEST_CASE("environment: tasks per node of another form are refused") {
  for (const char* text : {"", "4(x", "4(x2", "(x2)", "4(x0)", "4,,3", "4(x2)3", "1(x99999999)"}) {
    CAPTURE(text);
    CHECK_FALSE(cluster::parse_tasks_per_node(text));
  }
  CHECK(*cluster::parse_tasks_per_node("8") == std::vector<Index>{8});
}
