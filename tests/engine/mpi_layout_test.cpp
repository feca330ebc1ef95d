// The layouts over MPI processes: bit for bit what in-process ranks give, with the bytes and memory
// of the plan. Started by mpirun with as many ranks as some of the layouts need.
#include <cstdio>

#include "comm/mpi.hpp"
#include "engine/combinations.hpp"
#include "engine/ledger_difference.hpp"
#include "engine/model_tensors.hpp"
#include "kernels/cpu/cpu_ops.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {

/// Up to six of the table of combinations, which the threads hold against one rank, the first of
/// them once more in bf16, and a whole run of fp32 where it takes few ranks.
std::vector<Experiment> experiments_of(int world_size) {
  std::vector<Experiment> fitting, some;
  for (const Experiment& e : combinations({.steps = 3}))
    if (e.dims.world() == world_size) fitting.push_back(e);
  const std::size_t stride = (fitting.size() + 5) / 6;
  for (std::size_t i = 0; i < fitting.size(); i += stride) some.push_back(fitting[i]);
  if (some.empty()) return some;
  some.push_back(some.front()), some.back().dtype = kernels::DType::bf16;
  if (world_size > 3) return some;
  some.push_back(some.front()), some.back().dtype = kernels::DType::f32;
  some.back().steps = full_run;
  return some;
}

/// fp64 where layouts are compared; what is trained in less is trained on the host kernels.
BackendFactory backend_of(const Experiment& e) {
  if (e.dtype == kernels::DType::f64) return kernels::make_reference_ops;
  return [](kernels::Trace& trace) { return kernels::make_cpu_ops(trace); };
}

std::vector<engine::TensorSpec> tensors_of(const model::ModelSpec& model) {
  std::vector<engine::TensorSpec> all = {engine::embedding_tensor(model),
                                         engine::final_norm_tensor(model),
                                         engine::output_tensor(model)};
  for (Index i = 0; i < model.num_hidden_layers; ++i) {
    const auto t = engine::layer_tensors(model, i);
    all.insert(all.end(), {t.attention_norm, t.q, t.k, t.v, t.o, t.mlp_norm, t.gate, t.up, t.down});
  }
  return all;
}

/// The ranks' shards, summed into whole tensors.
Tensors gathered(const Tensors& mine, const model::ModelSpec& model, comm::Communicator& world) {
  Tensors whole;
  for (const auto& spec : tensors_of(model)) {
    const auto found = mine.find(spec.name);
    auto& tensor = whole[spec.name];
    if (found != mine.end()) tensor = found->second;
    const Index size = spec.rows * spec.cols;
    tensor.resize(static_cast<std::size_t>(size));
    world
        .all_reduce(
            {reinterpret_cast<std::byte*>(tensor.data()), 1, size, size, kernels::DType::f64})
        .wait();
  }
  return whole;
}

/// Of one rank; gradients whole.
struct Run {
  Experiment experiment;
  RankReport report;
  std::vector<std::string> broken_promises;
};

Run train_over(comm::MpiWorld& world, const Experiment& e) {
  const engine::Job job = job_of(e);
  kernels::NoTrace trace;
  const auto set = comm::make_mpi_groups(world, layout::Ranks(job.dims, job.order), trace,
                                         engine::group_settings(job));
  const comm::Ledger before = world.endpoint().posted();
  Run run{e, train_rank(e, job, world.rank(), set, backend_of(e)), {}};
  run.broken_promises =
      broken_promises(run.report, difference(world.endpoint().posted(), before), e.steps);
  run.report.gradients = gathered(run.report.gradients, job.model, *set.world);
  return run;
}

int check(bool holds, const char* what, const Experiment& e) {
  if (!holds) std::fprintf(stderr, "FAILED: %s (%s over MPI)\n", what, name_of(e).c_str());
  return holds ? 0 : 1;
}

/// Failures against the same ranks as threads.
int compare(const Run& run) {
  const Outcome threads = train(run.experiment, backend_of(run.experiment));
  return check(run.report.losses == threads.losses, "losses bit for bit", run.experiment) +
         check(run.report.grad_norms == threads.grad_norms, "grad norms bit for bit",
               run.experiment) +
         check(run.report.gradients == threads.gradients, "gradients bit for bit", run.experiment);
}

struct Runs {
  int rank = 0;
  std::vector<Run> all;
};

/// MPI is over when this returns: ranks that wait would take the cores from the one that compares.
Runs train_all() {
  comm::Watchdog watchdog([](const std::string& what, std::chrono::milliseconds) {
    std::fprintf(stderr, "FAILED: %s hangs\n", what.c_str());
  });
  comm::MpiWorld world(watchdog, {.deadline = std::chrono::seconds(120)});
  Runs runs{.rank = world.rank()};
  for (const Experiment& e : experiments_of(world.size())) runs.all.push_back(train_over(world, e));
  return runs;
}

int run() {
  const Runs runs = train_all();
  int failures = runs.all.empty() ? 1 : 0;
  for (const Run& run : runs.all) {
    failures += check(run.broken_promises.empty(), "bytes and memory as planned", run.experiment);
    if (runs.rank == 0) failures += compare(run);
  }
  if (runs.rank == 0 && failures == 0) std::puts("ok");
  return failures;
}

}  // namespace
}  // namespace cpplan::test

int main() {
  return cpplan::test::run() == 0 ? 0 : 1;
}
