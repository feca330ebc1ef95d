#include "launch/launch_line.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace cpplan;
using namespace cpplan::launch;

namespace {

std::optional<Index> ranks(const std::string& text, std::optional<Index> gpus = std::nullopt) {
  const LaunchCommand command = parse_launch_command(text);
  REQUIRE(command.line);
  return ranks_started(*command.line, gpus);
}

}  // namespace

TEST_CASE("launch line: mpirun counts ranks or slots of its hosts") {
  CHECK(ranks("mpirun -np 16 --host h1,h2 ./prog") == 16);
  CHECK(ranks("/usr/bin/mpiexec -n 4 ./prog -n 7") == 4);
  CHECK(ranks("mpirun --host h1:8,h2:8 ./prog") == 16);
  CHECK(ranks("mpirun --host h1,h2 -npernode 4 ./prog") == 8);
  CHECK_FALSE(ranks("mpirun --hostfile hosts ./prog"));
  CHECK_FALSE(ranks("mpirun -np $N ./prog"));
}

TEST_CASE("launch line: the value of a flag is no program") {
  const auto command =
      parse_launch_command("A=1 mpirun --mca btl self,vader -x PATH -np 2 ./prog x");
  REQUIRE(command.line);
  CHECK(command.line->program.size() == 2);
  CHECK(command.line->program[0].text == "./prog");
  CHECK(command.line->before.size() == 1);
  CHECK(command.line->place(Meaning::ranks).column == 45);
}

TEST_CASE("launch line: srun counts tasks in every spelling") {
  CHECK(ranks("srun -n 8 ./prog") == 8);
  CHECK(ranks("srun -n8 ./prog") == 8);
  CHECK(ranks("srun --ntasks=8 --mpi=pmix ./prog") == 8);
  CHECK(ranks("srun -N2 --ntasks-per-node=4 ./prog") == 8);
  CHECK(ranks("srun -N 3 ./prog") == 3);
  CHECK_FALSE(ranks("srun ./prog"));
}

TEST_CASE("launch line: torchrun starts ranks on each node") {
  CHECK(ranks("torchrun --nnodes 2 --nproc-per-node 8 train.py") == 16);
  CHECK(ranks("torchrun --nproc_per_node=4 -m axolotl.cli.train c.yaml") == 4);
  CHECK(ranks("python3 -m torch.distributed.run --nproc-per-node=2 train.py") == 2);
  CHECK(ranks("torchrun --nproc-per-node gpu train.py", 8) == 8);
  CHECK_FALSE(ranks("torchrun --nproc-per-node gpu train.py"));
  CHECK_FALSE(ranks("torchrun --nnodes 1:4 --nproc-per-node 8 train.py"));
}

TEST_CASE("launch line: accelerate counts processes of all machines") {
  CHECK(
      ranks("accelerate launch --num_machines 2 --num_processes 16 -m axolotl.cli.train c.yaml") ==
      16);
  CHECK(ranks("accelerate launch --fsdp_sharding_strategy FULL_SHARD --num-processes 4 t.py") == 4);
  CHECK_FALSE(ranks("accelerate launch -m axolotl.cli.train c.yaml"));
}

TEST_CASE("launch line: a launcher below srun starts ranks for each task") {
  CHECK(ranks("srun -N 2 --ntasks-per-node 1 torchrun --nnodes 2 --nproc-per-node 8 t.py") == 16);
  CHECK(ranks("srun -N 2 torchrun --nproc-per-node 8 t.py") == 16);
  CHECK(ranks("srun -N 2 bash -c 'torchrun --nnodes=2 --nproc-per-node=4 t.py'") == 8);
  CHECK(ranks("srun -N 2 accelerate launch --num_processes 16 --num_machines 2 t.py") == 16);
}

TEST_CASE("launch line: the first launcher of a script is taken") {
  CHECK(ranks("cd /x && export A=1; mpirun -n 3 ./prog | tee log") == 3);
}

TEST_CASE("launch line: what is no launch command is an error") {
  for (const char* text : {"", "python train.py", "accelerate test", "'"}) {
    CAPTURE(text);
    const auto command = parse_launch_command(text);
    CHECK_FALSE(command.line);
    REQUIRE(command.findings.size() == 1);
    CHECK(command.findings[0].id == "CP520");
  }
}

TEST_CASE("launch line: a flag that is nearly right is named and a strange one is not") {
  const auto near = parse_launch_command("torchrun --nproc-pernode 8 t.py");
  REQUIRE(near.findings.size() == 1);
  CHECK(near.findings[0].id == "CP521");
  CHECK(near.findings[0].help[0] == "write --nproc-per-node");
  CHECK(near.findings[0].span.column == 10);
  CHECK(parse_launch_command("mpirun --prefetch-library-cache -np 2 x").findings.empty());
}

TEST_CASE("launch line: a flag of another launcher is named with what says the same here") {
  const std::array<std::array<const char*, 3>, 5> lines = {{
      {"torchrun --ntasks 4 t.py", "it is one of srun", "write --nproc-per-node"},
      {"srun --nproc_per_node=8 prog", "it is one of torchrun", "write --ntasks-per-node"},
      {"mpirun --num_processes 8 prog", "it is one of accelerate launch", "write --np"},
      {"accelerate launch --nnodes 2 --num_processes 4 --main_process_ip a t.py",
       "it is one of torchrun", "write --num-machines"},
      {"torchrun --allow-run-as-root --nproc-per-node 2 t.py", "it is one of mpirun", "remove it"},
  }};
  for (const auto& [line, why, help] : lines) {
    CAPTURE(line);
    const auto command = parse_launch_command(line);
    REQUIRE(command.findings.size() == 1);
    CHECK(command.findings[0].id == "CP521");
    CHECK(command.findings[0].why == why);
    CHECK(command.findings[0].help[0] == help);
  }
}

TEST_CASE("launch line: a number of ranks that is none is an error at its place") {
  const auto command = parse_launch_command("mpirun -np eight ./prog");
  REQUIRE(command.findings.size() == 1);
  CHECK(command.findings[0].span.column == 12);
}
