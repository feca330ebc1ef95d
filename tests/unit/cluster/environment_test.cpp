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
  CHECK(e.findings.empty());
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
