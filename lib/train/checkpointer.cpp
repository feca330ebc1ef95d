#include "train/checkpointer.hpp"

#include <fmt/format.h>

#include "base/failure.hpp"
#include "checkpoint/folder.hpp"
#include "train/gathered_write.hpp"
#include "train/run_facts.hpp"

namespace cpplan::train {
namespace fs = std::filesystem;

Checkpointer::Checkpointer(const TrainingRun& run, const Rank& rank, StepObserver& observer,
                           std::string run_name, std::span<const engine::Parameter> parameters)
    : run_(run),
      rank_(rank),
      observer_(observer),
      run_name_(std::move(run_name)),
      folder_(fs::absolute(run.checkpoints->folder)),
      files_(checkpoint_files(run.job)),
      side_files_(checkpoint_side_files(run.job, files_)),
      snapshot_(parameters) {
  if (rank.number != 0) return;
  auto lock = checkpoint::FolderLock::take(folder_, run_name_);
  if (!lock) throw Failure(lock.error().message);
  lock_ = std::move(*lock);
  checkpoint::remove_remains(folder_);
}

bool Checkpointer::due(Index step) const {
  const auto& every = run_.checkpoints->interval;
  return step == run_.steps || (every && step % *every == 0);
}

void Checkpointer::begin(Index step, kernels::Ops& ops) {
  expect(idle(), "one checkpoint at a time");
  step_ = step;
  snapshot_.take(ops);
  enter(Phase::preparing);
}

double Checkpointer::vote() {
  if (task_.done()) {
    if (const auto result = task_.fetch(); !result)
      throw Failure(fmt::format("the checkpoint of step {} could not be written: {}", step_,
                                result.error().message));
    done_ = true;
  }
  return done_ ? 1 : 0;
}

void Checkpointer::count(const engine::Votes& votes) {
  if (idle() || votes.done < workers()) return;
  enter(phase_ == Phase::preparing ? Phase::writing
        : phase_ == Phase::writing ? Phase::sealing
                                   : Phase::idle);
}

double Checkpointer::workers() const {
  return phase_ == Phase::writing ? static_cast<double>(run_.job.dims.world()) : 1;
}

void Checkpointer::enter(Phase phase) {
  phase_ = phase;
  done_ = false;
  const bool first = rank_.number == 0;
  if (phase == Phase::preparing && first) start_preparing();
  const bool gathers = run_.checkpoints->writer == plan::CheckpointWriter::gather;
  if (phase == Phase::writing && gathers) return gather_and_write();
  if (phase == Phase::writing) start_writing();
  if (phase == Phase::sealing && first) start_sealing();
}

void Checkpointer::start_preparing() {
  task_.start([this](const std::stop_token&) {
    return checkpoint::prepare_files(checkpoint::temporary_folder(folder_, step_, run_name_),
                                     files_, side_files_);
  });
}

void Checkpointer::start_writing() {
  task_.start([this](const std::stop_token& stop) {
    return checkpoint::write_pieces(checkpoint::temporary_folder(folder_, step_, run_name_), files_,
                                    rank_.number, snapshot_.pieces(), stop);
  });
}

void Checkpointer::gather_and_write() {
  if (!channel_) channel_.emplace(rank_);
  const Seconds limit = longest_wait(files_);
  rank_.endpoint.set_deadline(to_milliseconds(limit));
  observer_.gathering(limit);
  write_gathered(checkpoint::temporary_folder(folder_, step_, run_name_), files_,
                 snapshot_.pieces(), rank_, *channel_);
  done_ = true;
}

void Checkpointer::start_sealing() {
  task_.start([this](const std::stop_token&) -> Result<void> {
    const auto temporary = checkpoint::temporary_folder(folder_, step_, run_name_);
    const int world = static_cast<int>(run_.job.dims.world());
    auto sealed = checkpoint::seal(temporary, checkpoint::step_folder(folder_, step_), files_,
                                   side_files_, manifest(), world);
    const auto& kept = *run_.checkpoints;
    if (sealed)
      checkpoint::remove_old(folder_, {.newest = kept.keep, .every = kept.retain_interval});
    return sealed;
  });
}

checkpoint::Manifest Checkpointer::manifest() const {
  return {.step = step_,
          .run = run_name_,
          .version = CPPLAN_VERSION,
          .plan_hash = hash_of(run_),
          .dims = run_.job.dims,
          .data = data_position(run_, step_)};
}

}  // namespace cpplan::train
