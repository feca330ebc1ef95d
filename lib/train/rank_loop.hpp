#pragma once
// What every rank of a run does, whatever carries its messages: train its steps, and put together
// what rank 0 records.
#include "comm/transports.hpp"
#include "engine/trainer.hpp"
#include "record/run_record.hpp"
#include "train/step_limit.hpp"
#include "train/training_run.hpp"
#include "train/wait_clock.hpp"

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
  WaitClock* waits = nullptr;  // of its trace; nullptr: nobody asks
};

/// Told about every step on the rank's own thread.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void begins(Index step, const StepLimit& limit) = 0;
  /// While the gradients of the step stand in the trainer.
  virtual void stepped(const engine::Trainer&, const engine::StepResult&) {}
  virtual void ended(const record::StepRecord& step) = 0;
  /// Training has come to its end, and waits for the disk.
  virtual void saving(const StepLimit&) {}
  /// All ranks stand still until rank 0 has written what they hold; no wait of it takes longer.
  virtual void gathering(Seconds) {}
  /// Worth a line for the user; also of ranks beside 0.
  virtual void notes(const std::string&) {}
  /// Whether somebody has asked for a checkpoint and the end.
  virtual bool stop_requested() { return false; }
};

/// Exit code of a run that was asked to end, and wrote a checkpoint to go on from.
inline constexpr int checkpointed = 75;

/// The record is complete on rank 0, and has no communication elsewhere. Throws Failure when a peer
/// is gone, the loss is not finite, or a checkpoint cannot be written or read.
record::RunRecord train_rank(const TrainingRun&, const Rank&, StepLimit, StepObserver&);

}  // namespace cpplan::train
