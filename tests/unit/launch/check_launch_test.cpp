#include "launch/check_launch.hpp"

#include <doctest/doctest.h>

#include "support/give.hpp"

using namespace cpplan;
using namespace cpplan::launch;

namespace {

plan::Plan plan_of(Index world) {
  plan::Plan plan;
  plan.world.size = world;
  plan.world.source.assign("--world-size");
  return plan;
}

/// Ids of what is found, with the column of each.
std::vector<std::pair<std::string, int>> found(const std::string& text, const plan::Plan& plan) {
  const LaunchCommand command = parse_launch_command(text);
  REQUIRE(command.line);
  std::vector<std::pair<std::string, int>> ids;
  for (const auto& finding : check_launch(*command.line, plan))
    ids.emplace_back(finding.id, finding.span.column);
  return ids;
}

using Found = std::vector<std::pair<std::string, int>>;

}  // namespace

TEST_CASE("check launch: a bare host is one slot") {
  CHECK(found("mpirun -np 16 --host h1,h2 ./p", plan_of(16)) == Found{{"CP522", 22}});
  CHECK(found("mpirun -np 16 --host h1:8,h2:8 ./p", plan_of(16)).empty());
  CHECK(found("mpirun -np 16 --oversubscribe --host h1,h2 ./p", plan_of(16)).empty());
  CHECK(found("mpirun -np 4 --map-by :OVERSUBSCRIBE --host h1,h2 ./p", plan_of(4)).empty());
  const auto command = parse_launch_command("mpirun -np 16 --host h1,h2 ./p");
  CHECK(check_launch(*command.line, plan_of(16))[0].help[0] == "write --host h1:8,h2:8");
}

TEST_CASE("check launch: ranks of a node bound the ranks in all") {
  CHECK(found("mpirun -np 16 --map-by ppr:4:node --host h1:8,h2:8 ./p", plan_of(16)) ==
        Found{{"CP522", 24}});
  CHECK(found("srun -N 2 --ntasks-per-node 4 -n 16 ./p", plan_of(16)) == Found{{"CP522", 29}});
}

TEST_CASE("check launch: Open MPI does not start as root") {
  plan::Plan plan = plan_of(4);
  test::give(plan.config.launch.uid, 0, "cpplan.launch.uid");
  CHECK(found("mpirun -np 4 ./p", plan) == Found{{"CP523", 1}});
  CHECK(found("mpirun --allow-run-as-root -np 4 ./p", plan).empty());
  CHECK(found("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -np 4 ./p", plan)
            .empty());
  CHECK(found("OMPI_ALLOW_RUN_AS_ROOT=1 mpirun -np 4 ./p", plan).size() == 1);
  CHECK(found("srun -n 4 ./p", plan).empty());
  test::give(plan.config.launch.uid, 1000, "cpplan.launch.uid");
  CHECK(found("mpirun -np 4 ./p", plan).empty());
}

TEST_CASE("check launch: the command starts as many ranks as the plan has") {
  CHECK(found("torchrun --nproc-per-node 4 t.py", plan_of(8)) == Found{{"CP524", 27}});
  CHECK(found("torchrun --nproc-per-node 8 t.py", plan_of(8)).empty());
  CHECK(found("torchrun --nproc-per-node $N t.py", plan_of(8)).empty());
  const auto command = parse_launch_command(
      "accelerate launch --num_machines 2 --main_process_ip a --num_processes 8 t.py");
  const auto findings = check_launch(*command.line, plan_of(16));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].help[0].starts_with("write --num_processes 16"));
}

TEST_CASE("check launch: processes divide over machines") {
  CHECK(found("accelerate launch --num_machines 2 --main_process_ip a --num_processes 7 t.py",
              plan_of(7)) == Found{{"CP524", 72}});
}

TEST_CASE("check launch: several nodes are told where they meet") {
  CHECK(found("torchrun --nnodes 2 --nproc-per-node 4 t.py", plan_of(8)) == Found{{"CP525", 19}});
  CHECK(found("torchrun --nnodes 2 --nproc-per-node 4 --master-addr a t.py", plan_of(8)).empty());
  CHECK(found("torchrun --standalone --nnodes 2 --nproc-per-node 4 t.py", plan_of(8)) ==
        Found{{"CP525", 10}});
}

TEST_CASE("check launch: srun starts one launcher a node on as many nodes as it waits for") {
  CHECK(found("srun -N 2 --ntasks-per-node=8 torchrun --nnodes 2 --rdzv-endpoint a "
              "--nproc-per-node 8 t.py",
              plan_of(16)) == Found{{"CP526", 29}});
  CHECK(found("srun -N 2 torchrun --nnodes 4 --rdzv-endpoint a --nproc-per-node 4 t.py",
              plan_of(16)) == Found{{"CP526", 29}});
}

TEST_CASE("check launch: MPI ranks of srun speak PMIx") {
  CHECK(found("srun --mpi=pmi2 -n 4 ./p", plan_of(4)) == Found{{"CP527", 12}});
  CHECK(found("srun --mpi=pmix_v4 -n 4 ./p", plan_of(4)).empty());
}

TEST_CASE("check launch: a framework below mpirun lacks WORLD_SIZE") {
  CHECK(found("mpirun -np 4 python train.py", plan_of(4)) == Found{{"CP503", 14}});
  CHECK(found("WORLD_SIZE=4 mpirun -np 4 python train.py", plan_of(4)).empty());
}
