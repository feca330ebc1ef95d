#pragma once
// What every rank of a run does, whatever carries its messages: agree on the run, train its steps,
// and put together what rank 0 records.
#include "comm/transports.hpp"
#include "engine/trainer.hpp"
#include "record/run_record.hpp"
#include "train/step_limit.hpp"
#include "train/training_run.hpp"

namespace cpplan::train {

/// Whether a rank is a process, or one of several threads of it.
enum class Process : std::uint8_t { own, shared };

/// A rank of the world; all of it outlives the loop.
struct Rank {
  int number = 0;
  kernels::Ops& ops;
  const comm::GroupSet& groups;
  comm::Endpoint& endpoint;
  Process process = Process::shared;
};

/// Told about every step on the rank's own thread.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void begins(Index step, const StepLimit& limit) = 0;
  /// While the gradients of the step stand in the trainer.
  virtual void stepped(const engine::Trainer&, const engine::StepResult&) {}
  virtual void ended(const record::StepRecord& step) = 0;
};

/// The record is complete on rank 0, and has no communication elsewhere. Throws Failure when a peer
/// is gone, the ranks have different runs, or the loss is not finite.
record::RunRecord train_rank(const TrainingRun&, const Rank&, StepLimit, StepObserver&);

}  // namespace cpplan::train
