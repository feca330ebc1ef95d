// A job script is text that follows from a plan; the shell checks its grammar elsewhere.
#include "launch/sbatch_script.hpp"

#include <doctest/doctest.h>

namespace cpplan::launch {
namespace {

plan::Plan planned(Index world, std::optional<Index> nodes, std::optional<Index> per_node) {
  plan::Plan plan;
  plan.config.file = "runs/my llama.yaml";
  plan.world.size = world;
  plan.world.nodes = nodes;
  plan.world.gpus_per_node = per_node;
  plan.layout.dims.tp = 2;
  plan.layout.dims.cp = 2;
  plan.layout.dims.dp = static_cast<int>(world) / 4;
  plan.batch.batch_size = 16;
  return plan;
}

bool has_line(const std::string& script, const std::string& line) {
  return ("\n" + script).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("sbatch script: nodes and tasks are those of the plan") {
  const auto script = sbatch_script(planned(8, 2, {}), {});
  REQUIRE(script);
  CHECK(script->starts_with("#!/bin/bash\n"));
  CHECK(has_line(*script, "#SBATCH --job-name=my-llama"));
  CHECK(has_line(*script, "#SBATCH --nodes=2"));
  CHECK(has_line(*script, "#SBATCH --ntasks-per-node=4"));
  CHECK(has_line(*script, "#SBATCH --signal=B:USR1@120"));
  CHECK(has_line(*script, "#SBATCH --requeue"));
  CHECK(has_line(*script, "#SBATCH --open-mode=append"));
  CHECK(has_line(*script, "cpplan validate 'runs/my llama.yaml' || exit"));
  CHECK(script->find("cpplan run 'runs/my llama.yaml' --launcher srun --world-size 8 &\n") !=
        std::string::npos);
  CHECK(script->find("TP 2 x CP 2 x PP 1 x DP 2") != std::string::npos);
  CHECK(script->find("--gpus-per-node") == std::string::npos);
}

TEST_CASE("sbatch script: the site's options are the config's") {
  auto plan = planned(8, {}, 4);
  CHECK(sbatch_script(plan, {})->find("--partition") == std::string::npos);
  plan.config.cluster.partition.value = "gpu";
  plan.config.cluster.time.value = "1-00:00:00";
  plan.config.cluster.gpu.value = "h100";
  const auto script = sbatch_script(plan, {});
  CHECK(has_line(*script, "#SBATCH --partition=gpu"));
  CHECK(has_line(*script, "#SBATCH --time=1-00:00:00"));
  CHECK(has_line(*script, "#SBATCH --gpus-per-node=4"));
}

TEST_CASE("sbatch script: a framework's launcher starts once a node and finds the first host") {
  const BatchProgram torchrun{
      "torchrun --nnodes 2 --rdzv-endpoint FIRST_HOST:29500 --nproc-per-node 4 -m x 'a b.yaml'",
      {}};
  const auto script = sbatch_script(planned(8, 2, 4), torchrun);
  REQUIRE(script);
  CHECK(has_line(*script, "#SBATCH --ntasks-per-node=1"));
  CHECK(has_line(*script, "#SBATCH --gpus-per-node=4"));
  CHECK(script->find("--rdzv-endpoint $FIRST_HOST:29500") != std::string::npos);
  CHECK(script->find(R"(-m x '\''a b.yaml'\'')") != std::string::npos);
  CHECK(script->find("cpplan run") == std::string::npos);
}

TEST_CASE("sbatch script: the job is told what the plan was told") {
  const BatchProgram engine{std::nullopt, {"--set", "micro_batch_size=2", "--with", "a b.yaml"}};
  const auto script = sbatch_script(planned(8, 2, 4), engine);
  const std::string config = "'runs/my llama.yaml' --set micro_batch_size=2 --with 'a b.yaml'";
  CHECK(has_line(*script, "cpplan validate " + config + " || exit"));
  CHECK(script->find("cpplan run " + config + " --launcher srun --world-size 8 &\n") !=
        std::string::npos);
  const BatchProgram framework{"torchrun x", {"--set", "micro_batch_size=2"}};
  CHECK_FALSE(sbatch_script(planned(8, 2, 4), framework));
}

TEST_CASE("sbatch script: a job that keeps checkpoints goes on from them") {
  auto plan = planned(8, 2, 4);
  CHECK(sbatch_script(plan, {})->find("--resume") == std::string::npos);
  plan.checkpoints.emplace();
  CHECK(sbatch_script(plan, {})->find("--world-size 8 --resume &\n") != std::string::npos);
}

TEST_CASE("sbatch script: ranks that do not fill nodes are refused with what would") {
  CHECK(node_shape(planned(8, 3, {})).error().message.find("8 ranks do not fill 3 nodes") == 0);
  CHECK(node_shape(planned(8, {}, 3)).error().message.find("multiple of 3") != std::string::npos);
  CHECK(node_shape(planned(8, {}, {})).error().message.find("--gpus-per-node") !=
        std::string::npos);
  CHECK(node_shape(planned(8, {}, 4))->nodes == 2);
}

}  // namespace
}  // namespace cpplan::launch
