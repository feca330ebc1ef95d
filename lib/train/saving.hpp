#pragma once
// When a run saves: as often as the plan says, after the last step, and when somebody asks for it,
// whereupon all ranks stop after the same step.
#include <optional>

#include "comm/ledger.hpp"
#include "train/checkpointer.hpp"
#include "train/gather.hpp"

namespace cpplan::train {

class Saving {
 public:
  /// Collective over the world. Throws Failure where another run writes into the folder.
  Saving(const TrainingRun&, const Rank&, const StepLimit&, StepObserver&,
         std::span<const engine::Parameter>);

  /// What this rank tells the others in the next step.
  engine::Votes votes();
  enum class Next : std::uint8_t { go_on, stop };
  /// With the votes of all ranks in `step`. stop: what training has come to is on disk.
  Next after(Index step, const engine::Votes&);
  /// What this has sent, apart from steps.
  const comm::Ledger& posted() const { return posted_; }

 private:
  void wait_until_saved();
  void add_posted_since(const comm::Ledger& before);

  const TrainingRun& run_;
  const Rank& rank_;
  const StepLimit& limit_;
  StepObserver& observer_;
  std::optional<Checkpointer> checkpointer_;
  std::optional<Gathering> gather_votes_;
  comm::Ledger posted_;
};

}  // namespace cpplan::train
