// CP5: cluster and launch.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

// clang-format off
constexpr std::array table = {
    Page{"CP501", "A launcher's variable that is no number says nothing, and the next source decides.",
         {"max_steps: 10", "WORLD_SIZE=eight"}, {"max_steps: 10", "WORLD_SIZE=1"}, "the variables of SLURM, Open MPI and torchrun"},
    Page{"CP502", "Two of SLURM's variables count different tasks, so one of them is left over from another job or was changed by hand.",
         {"max_steps: 10", "SLURM_NNODES=2 SLURM_NTASKS=8 SLURM_TASKS_PER_NODE=8(x2)"}, {"max_steps: 10", "SLURM_NNODES=2 SLURM_NTASKS=16 SLURM_TASKS_PER_NODE=8(x2) WORLD_SIZE=16"}, "SLURM's sbatch manual, output environment variables"},
    Page{"CP503", "axolotl and Megatron read WORLD_SIZE and nothing else: they would plan for one rank.",
         {"max_steps: 10", "OMPI_COMM_WORLD_SIZE=8"}, {"max_steps: 10", "OMPI_COMM_WORLD_SIZE=8 WORLD_SIZE=8"}, "axolotl, utils/config/__init__.py; Megatron, training/arguments.py"},
    Page{"CP504", "The same number is given twice, and differently.",
         {"max_steps: 10", "--world-size 8 --nodes 2 --gpus-per-node 8"}, {"max_steps: 10", "--world-size 16 --nodes 2 --gpus-per-node 8"}, "this program's flags"},
    Page{"CP505", "SLURM starts one task on each node where a launcher of its own starts the ranks; where none does, only one GPU of a node works.",
         {"context_parallel_size: 4", "SLURM_NNODES=2 SLURM_NTASKS=2 SLURM_TASKS_PER_NODE=1(x2)"}, {"context_parallel_size: 4", "--world-size 16"}, "SLURM's srun manual; torchrun and accelerate"},
    Page{"CP506", "WORLD_SIZE was exported by hand, or is left from another job, and the framework would believe it.",
         {"max_steps: 10", "WORLD_SIZE=8 OMPI_COMM_WORLD_SIZE=16"}, {"max_steps: 10", "WORLD_SIZE=16 OMPI_COMM_WORLD_SIZE=16"}, "the variables of SLURM, Open MPI and torchrun"},
    Page{"CP510", "Without PMI every task of a step starts an MPI world of its own, of one rank.",
         {"max_steps: 10", "SLURM_NTASKS=4 SLURM_STEP_ID=0 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4"}, {"max_steps: 10", "SLURM_NTASKS=4 SLURM_STEP_ID=0 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 PMIX_RANK=2 WORLD_SIZE=4"}, "Open MPI under srun"},
    Page{"CP511", "A rank that ends early leaves the others waiting; the run is stopped and the first cause named.", {}, {}, "this program's supervisor"},
    Page{"CP512", "The engine trains decoder-only models of Llama's type; what else a config asks for it does not run as something else.",
         {"rl: dpo", "cpplan run"}, {"max_steps: 10", "cpplan run"}, "the engine of this program"},
    Page{"CP513", "A setting of the framework has no counterpart in the engine, and the run says so before it starts.",
         {"adapter: lora", "cpplan run"}, {"max_steps: 10", "cpplan run"}, "the engine of this program"},
    Page{"CP520", "A launch command is a line for a shell: variables, a launcher, its flags, a program.",
         {"max_steps: 10", "--world-size 8 --launch-command \"python train.py\""}, {"max_steps: 10", "--world-size 8 --launch-command \"torchrun --nproc-per-node 8 train.py\""}, "the manuals of mpirun, srun, torchrun and accelerate"},
    Page{"CP521", "A flag of another launcher, or an old name, is refused or ignored.",
         {"max_steps: 10", "--world-size 8 --launch-command \"torchrun --ntasks-per-node 8 train.py\""}, {"max_steps: 10", "--world-size 8 --launch-command \"torchrun --nproc-per-node 8 train.py\""}, "the manuals of mpirun, srun, torchrun and accelerate"},
    Page{"CP522", "A bare host is one slot, and Open MPI refuses more ranks than slots.",
         {"max_steps: 10", "--world-size 16 --launch-command \"mpirun --host a,b -np 16 ./program\""}, {"max_steps: 10", "--world-size 16 --launch-command \"mpirun --host a:8,b:8 -np 16 ./program\""}, "Open MPI's mpirun manual"},
    Page{"CP523", "Open MPI refuses to start as root unless told twice, by --allow-run-as-root or two variables.",
         {"cpplan: {launch: {uid: 0}}", "--world-size 8 --launch-command \"mpirun -np 8 ./program\""}, {"cpplan: {launch: {uid: 0}}", "--world-size 8 --launch-command \"mpirun --allow-run-as-root -np 8 ./program\""}, "Open MPI's mpirun manual"},
    Page{"CP524", "The command starts another number of ranks than the plan has.",
         {"max_steps: 10", "--world-size 8 --launch-command \"torchrun --nproc-per-node 4 train.py\""}, {"max_steps: 10", "--world-size 8 --launch-command \"torchrun --nproc-per-node 8 train.py\""}, "the manuals of mpirun, srun, torchrun and accelerate"},
    Page{"CP525", "Launchers on several nodes find each other at an address that all are given.",
         {"max_steps: 10", "--world-size 8 --launch-command \"torchrun --nnodes 2 --nproc-per-node 4 train.py\""}, {"max_steps: 10", "--world-size 8 --launch-command \"torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint first:29500 train.py\""}, "torchrun's and accelerate's documentation"},
    Page{"CP526", "A launcher below srun starts the ranks of its node, so srun starts it once a node.",
         {"max_steps: 10", "--world-size 8 --launch-command \"srun --nodes 2 --ntasks-per-node 4 torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint first:29500 train.py\""}, {"max_steps: 10", "--world-size 8 --launch-command \"srun --nodes 2 --ntasks-per-node 1 torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint first:29500 train.py\""}, "SLURM's srun manual; torchrun's documentation"},
    Page{"CP527", "MPI ranks that srun starts find each other through PMIx.",
         {"max_steps: 10", "--world-size 8 --launch-command \"srun --mpi=pmi2 -n 8 ./program\""}, {"max_steps: 10", "--world-size 8 --launch-command \"srun --mpi=pmix -n 8 ./program\""}, "Open MPI under srun"},
    Page{"CP530", "A tensor-parallel group exchanges activations in every layer; between hosts that goes at the network's speed.", {}, {}, "this program's launcher"},
};
// clang-format on

}  // namespace

std::span<const Page> launch_pages() {
  return table;
}

}  // namespace cpplan::diag
