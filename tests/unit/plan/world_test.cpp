#include "plan/world.hpp"

#include <doctest/doctest.h>

#include "support/give.hpp"

using namespace cpplan;
using test::give;

namespace {

struct Found {
  plan::World world;
  diag::Diagnostics findings;
};

Found find(const config::TrainingConfig& config, const plan::PlanInputs& inputs,
           const cluster::Variables& variables = {}) {
  Found found;
  found.world =
      plan::find_world(config, inputs, cluster::read_environment(variables), found.findings);
  return found;
}

config::TrainingConfig with_cluster(Index nodes, Index gpus) {
  config::TrainingConfig c;
  give(c.cluster.nodes, nodes);
  give(c.cluster.gpus_per_node, gpus);
  return c;
}

}  // namespace

TEST_CASE("world: flags win over environment over cluster over degrees") {
  auto c = with_cluster(2, 8);
  plan::PlanInputs inputs;
  CHECK(find(c, inputs).world.source == "cpplan.cluster");
  CHECK(find(c, inputs).world.size == 16);
  CHECK(find(c, inputs, {{"WORLD_SIZE", "4"}}).world.size == 4);
  inputs.world_size = 32;
  const auto found = find(c, inputs, {{"WORLD_SIZE", "4"}});
  CHECK(found.world.size == 32);
  CHECK(found.world.source == "--world-size");
}

TEST_CASE("world: nodes take their GPUs from whoever knows") {
  plan::PlanInputs inputs;
  inputs.nodes = 3;
  inputs.gpus_per_node = 4;
  CHECK(find({}, inputs).world.size == 12);
  inputs.gpus_per_node.reset();
  CHECK(find(with_cluster(1, 8), inputs).world.size == 24);
  CHECK(find({}, inputs, {{"SLURM_GPUS_PER_NODE", "2"}}).world.size == 6);
}

TEST_CASE("world: flags that contradict each other are an error") {
  plan::PlanInputs inputs;
  inputs.world_size = 16;
  inputs.nodes = 2;
  inputs.gpus_per_node = 4;
  const auto found = find({}, inputs);
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].id == "CP504");
  inputs.world_size = 8;
  CHECK(find({}, inputs).findings.empty());
}

TEST_CASE("world: the product of the degrees is the last resort") {
  config::TrainingConfig c;
  give(c.parallel.tensor_parallel_size, 2);
  give(c.parallel.context_parallel_size, 3);
  give(c.parallel.pipeline_parallel_size, 4);
  CHECK(find(c, {}).world.size == 24);
  give(c.parallel.data_parallel_size, 5);
  CHECK(find(c, {}).world.size == 120);
  CHECK(find(c, {}).world.source == "product of the degrees");
}

TEST_CASE("world: one SLURM task a node launches a rank for each GPU") {
  const cluster::Variables two_nodes = {
      {"SLURM_NNODES", "2"}, {"SLURM_NTASKS", "2"}, {"SLURM_TASKS_PER_NODE", "1(x2)"}};
  plan::PlanInputs inputs;
  inputs.gpus_per_node = 8;
  const auto found = find({}, inputs, two_nodes);
  CHECK(found.world.size == 16);
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].severity == diag::Severity::note);
}

TEST_CASE("world: one task a node that the degrees do not divide is warned about") {
  const cluster::Variables two_nodes = {
      {"SLURM_NNODES", "2"}, {"SLURM_NTASKS", "2"}, {"SLURM_TASKS_PER_NODE", "1(x2)"}};
  config::TrainingConfig c;
  give(c.parallel.context_parallel_size, 4);
  const auto found = find(c, {}, two_nodes);
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].severity == diag::Severity::warning);
  give(c.parallel.context_parallel_size, 2);
  CHECK(find(c, {}, two_nodes).world.size == 2);
  CHECK(find(c, {}, two_nodes).findings.empty());
}
