// A run that is cut in two by a checkpoint, the second part under any layout: every tensor is where
// it was, and the losses are those of a run that was never cut.
#include <doctest/doctest.h>

#include <bit>
#include <mutex>

#include "checkpoint/folder.hpp"
#include "comm/rank_runner.hpp"
#include "comm/threads.hpp"
#include "engine/experiment.hpp"
#include "kernels/cpu/cpu_ops.hpp"
#include "kernels/reference/reference_ops.hpp"
#include "support/temporary_folder.hpp"
#include "train/checkpoint_files.hpp"
#include "train/restore.hpp"
#include "train/snapshot.hpp"

namespace cpplan::test {
namespace fs = std::filesystem;
using layout::Dim;
namespace {

const BackendFactory cpu = [](kernels::Trace& trace) { return kernels::make_cpu_ops(trace); };

constexpr int cut = 4, last = 9;  // steps before the checkpoint, and in all

/// A part of a run, from step `first` on.
struct Part {
  Experiment experiment;
  int first = 1, last = 0;
  fs::path from, to;  // checkpoints; empty: none
};

struct PartOutcome {
  std::vector<double> losses;
  Tensors begin, end;  // weights and optimizer state
  std::string failure;
};

double element(const kernels::Tensor& t, Index i) {
  switch (t.dtype) {
    case kernels::DType::f64:
      return t.as<double>()[i];
    case kernels::DType::bf16:
      return std::bit_cast<float>(std::uint32_t{t.as<std::uint16_t>()[i]} << 16);
    default:
      return t.as<float>()[i];
  }
}

/// What this rank saves, at its places in whole tensors.
void add_state(const engine::Trainer& trainer, Tensors& whole) {
  for (const auto& part : engine::saved_state(trainer.parameters())) {
    auto& tensor = whole[part.name];
    tensor.resize(static_cast<std::size_t>(part.shard.rows * part.shard.cols));
    for (const auto& run : checkpoint::runs_of(train::slice_of(part)))
      for (Index i = 0; i < run.count; ++i)
        tensor[static_cast<std::size_t>(run.in_tensor + i)] = element(part.data, run.in_slice + i);
  }
}

fs::path temporary_of(const Part& part) {
  return checkpoint::temporary_folder(part.to, part.last, "test");
}

class PartOfRank {
 public:
  PartOfRank(const Part& part, const engine::Job& job, int rank, const comm::GroupSet& set,
             const BackendFactory& make_backend)
      : part_(part),
        job_(job),
        rank_(rank),
        at_(layout::Ranks(job.dims, job.order).coordinates(rank)),
        ops_(make_backend(trace_)),
        groups_(engine::groups_of(set)),
        trainer_(*ops_, groups_, job, at_, engine::meta_run(job, at_).memory) {}

  void run(PartOutcome& outcome, std::mutex& mutex) {
    if (!part_.from.empty()) {
      const auto manifest = checkpoint::read_manifest(part_.from);
      REQUIRE(manifest);
      train::load_checkpoint(part_.from, *manifest, *ops_, trainer_);
    }
    add(outcome.begin, mutex);
    for (Index step = part_.first; step <= part_.last; ++step) {
      const auto source = [&](int m) {
        return micro_batch(part_.experiment, step, m, at_[Dim::dp]);
      };
      const double loss =
          trainer_.step(step, learning_rate_at(part_.experiment, step), source).loss;
      if (rank_ == 0) outcome.losses.push_back(loss);
    }
    add(outcome.end, mutex);
    if (!part_.to.empty()) save();
  }

 private:
  void add(Tensors& whole, std::mutex& mutex) const {
    const std::scoped_lock lock(mutex);
    add_state(trainer_, whole);
  }

  void save() {
    train::Snapshot snapshot(trainer_.parameters());
    snapshot.take(*ops_);
    const auto written = checkpoint::write_pieces(
        temporary_of(part_), train::checkpoint_files(job_), rank_, snapshot.pieces());
    REQUIRE(written);
  }

  const Part& part_;
  const engine::Job& job_;
  int rank_;
  layout::Coordinates at_;
  kernels::NoTrace trace_;
  std::unique_ptr<kernels::Ops> ops_;
  engine::Groups groups_;
  engine::Trainer trainer_;
};

PartOutcome run_part(const Part& part, const BackendFactory& make_backend) {
  const engine::Job job = job_of(part.experiment);
  const auto files = train::checkpoint_files(job);
  if (!part.to.empty()) REQUIRE(checkpoint::prepare_files(temporary_of(part), files, {}));
  const layout::Ranks ranks(job.dims, job.order);
  comm::ThreadWorld world(ranks.world(), std::chrono::seconds(60));
  PartOutcome outcome;
  std::mutex mutex;
  const auto done = comm::run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const auto set =
        comm::make_thread_groups(world, ranks, rank, trace, engine::group_settings(job));
    PartOfRank(part, job, rank, set, make_backend).run(outcome, mutex);
  });
  if (!done) outcome.failure = done.error().message;
  if (!part.to.empty()) {
    const checkpoint::Manifest manifest{.step = part.last, .run = "test", .dims = job.dims};
    REQUIRE(checkpoint::seal(temporary_of(part), checkpoint::step_folder(part.to, part.last), files,
                             {}, manifest, ranks.world()));
  }
  return outcome;
}

Experiment experiment_of(const layout::ParallelDims& dims, kernels::DType dtype) {
  return {.dims = dims, .dtype = dtype, .steps = last, .vocab_size = 67};  // padded by TP
}

/// A checkpoint of step `cut` under `dims`, and what it holds.
Tensors write_first_part(const fs::path& folder, const Experiment& e,
                         const BackendFactory& make_backend) {
  const PartOutcome first = run_part({e, 1, cut, {}, folder}, make_backend);
  REQUIRE(first.failure == "");
  return first.end;
}

PartOutcome run_second_part(const fs::path& folder, const Experiment& e,
                            const BackendFactory& make_backend) {
  const PartOutcome second =
      run_part({e, cut + 1, last, checkpoint::step_folder(folder, cut), {}}, make_backend);
  REQUIRE(second.failure == "");
  return second;
}

std::vector<double> after_cut(const PartOutcome& uncut) {
  return {uncut.losses.begin() + cut, uncut.losses.end()};
}

}  // namespace

TEST_CASE("checkpoint: goes on under any other layout") {
  const Experiment e = experiment_of({2, 1, 2, 2, true}, kernels::DType::f64);
  const TemporaryFolder folder;
  const Tensors saved = write_first_part(folder.path(), e, kernels::make_reference_ops);
  CHECK(saved.size() == 3 * engine::model_tensors(job_of(e).model).size());
  const auto uncut = after_cut(run_part({e, 1, last, {}, {}}, kernels::make_reference_ops));
  for (const layout::ParallelDims& dims :
       {layout::ParallelDims{1, 4, 1, 2}, {4, 1, 1, 1, true}, {1, 1, 1, 1}, {1, 3, 2, 1}}) {
    const Experiment other = experiment_of(dims, kernels::DType::f64);
    CAPTURE(name_of(other));
    const auto second = run_second_part(folder.path(), other, kernels::make_reference_ops);
    CHECK(second.begin == saved);
    CHECK(curve_distance(second.losses, uncut) <= 1e-11);
  }
}

TEST_CASE("checkpoint: the first step under another layout is that of fp32") {
  const Experiment e = experiment_of({2, 1, 2, 2, true}, kernels::DType::f32);
  const TemporaryFolder folder;
  const Tensors saved = write_first_part(folder.path(), e, cpu);
  const auto uncut = after_cut(run_part({e, 1, last, {}, {}}, cpu));
  for (const layout::ParallelDims& dims :
       {layout::ParallelDims{1, 4, 1, 2}, {4, 1, 1, 1, true}, {1, 1, 1, 1}}) {
    const auto second = run_second_part(folder.path(), experiment_of(dims, e.dtype), cpu);
    CHECK(second.begin == saved);
    CHECK(curve_distance({second.losses[0]}, {uncut[0]}) <= 1e-6);
  }
}

TEST_CASE("checkpoint: sharded and shared parameters go on whole and sharded otherwise") {
  using engine::Sharding;
  const auto tied = [](const layout::ParallelDims& dims, Sharding sharding) {
    Experiment e = experiment_of(dims, kernels::DType::f64);
    e.tie_word_embeddings = true;
    e.data_parallel.sharding = sharding;
    return e;
  };
  const Experiment e = tied({2, 1, 2, 2, true}, Sharding::optimizer);
  const TemporaryFolder folder;
  const Tensors saved = write_first_part(folder.path(), e, kernels::make_reference_ops);
  const auto uncut = after_cut(run_part({e, 1, last, {}, {}}, kernels::make_reference_ops));
  for (const Experiment& other :
       {tied({1, 1, 1, 1}, Sharding::none), tied({1, 3, 1, 2}, Sharding::parameters),
        tied({8, 1, 1, 1, true}, Sharding::none), tied({1, 2, 2, 1}, Sharding::optimizer)}) {
    CAPTURE(name_of(other));
    const auto second = run_second_part(folder.path(), other, kernels::make_reference_ops);
    CHECK(second.begin == saved);
    CHECK(curve_distance(second.losses, uncut) <= 1e-11);
  }
}

TEST_CASE("checkpoint: weights in bf16 go on from their exact copies") {
  Experiment e = experiment_of({2, 1, 1, 2, true}, kernels::DType::bf16);
  const TemporaryFolder folder;
  const Tensors saved = write_first_part(folder.path(), e, cpu);
  CHECK(saved.size() == 4 * engine::model_tensors(job_of(e).model).size());
  const PartOutcome uncut = run_part({e, 1, last, {}, {}}, cpu);
  const auto second = run_second_part(folder.path(), e, cpu);
  CHECK(second.begin == saved);
  CHECK(second.losses == after_cut(uncut));
  CHECK(second.end == uncut.end);
  const auto wide =
      run_second_part(folder.path(), experiment_of({1, 2, 1, 1}, kernels::DType::f32), cpu);
  for (const auto& [name, tensor] : wide.begin) {
    const auto exact = saved.find(name + engine::master_suffix);
    CHECK(tensor == (exact == saved.end() ? saved.at(name) : exact->second));
  }
}

TEST_CASE("checkpoint: the same layout goes on bit for bit") {
  for (const layout::ParallelDims& dims :
       {layout::ParallelDims{1, 1, 1, 1}, {2, 2, 2, 1, true}, {1, 2, 1, 2}}) {
    const Experiment e = experiment_of(dims, kernels::DType::f32);
    CAPTURE(name_of(e));
    const TemporaryFolder folder;
    write_first_part(folder.path(), e, cpu);
    const PartOutcome uncut = run_part({e, 1, last, {}, {}}, cpu);
    const auto second = run_second_part(folder.path(), e, cpu);
    CHECK(second.losses == after_cut(uncut));
    CHECK(second.end == uncut.end);
  }
}

}  // namespace cpplan::test
