#pragma once
// Writes checkpoints beside training. All ranks go through the same phases, and go on to the next
// one when the votes of a step say that everybody who has work in this one is done with it.
#include <filesystem>
#include <memory>
#include <optional>

#include "checkpoint/lock.hpp"
#include "engine/trainer.hpp"
#include "train/background_task.hpp"
#include "train/byte_channel.hpp"
#include "train/checkpoint_files.hpp"
#include "train/rank_loop.hpp"
#include "train/snapshot.hpp"

namespace cpplan::train {

class Checkpointer {
 public:
  /// `run_name`: the same on all ranks. Throws Failure where another run writes into the folder.
  Checkpointer(const TrainingRun& run, const Rank& rank, StepObserver& observer,
               std::string run_name, std::span<const engine::Parameter> parameters);

  /// 1 where this rank is done with its part of the phase. Throws Failure, with the reason, where
  /// it could not do it.
  double vote();
  /// What `votes` say of this phase, from all ranks.
  void count(const engine::Votes& votes);

  /// A checkpoint of what training has come to with `step`. Contract: idle().
  void begin(Index step, kernels::Ops& ops);
  bool idle() const { return phase_ == Phase::idle; }
  /// Whether the plan wants one after `step`.
  bool due(Index step) const;
  /// The last step that a checkpoint was begun of.
  Index last() const { return step_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  /// preparing: rank 0 makes the files. writing: all ranks write their slices. sealing: rank 0
  /// makes it count.
  enum class Phase : std::uint8_t { idle, preparing, writing, sealing };

  double workers() const;
  void enter(Phase);
  void start_preparing();
  void start_writing();
  void gather_and_write();
  void start_sealing();
  checkpoint::Manifest manifest() const;

  const TrainingRun& run_;
  const Rank& rank_;
  StepObserver& observer_;
  std::string run_name_;
  std::filesystem::path folder_;
  std::optional<checkpoint::FolderLock> lock_;  // of rank 0
  checkpoint::FileSet files_;
  std::vector<checkpoint::SideFile> side_files_;
  Snapshot snapshot_;
  std::optional<ByteChannel> channel_;  // where rank 0 alone writes
  Phase phase_ = Phase::idle;
  Index step_ = 0;
  bool done_ = false;    // with this phase
  BackgroundTask task_;  // last: it works on what stands above
};

}  // namespace cpplan::train
