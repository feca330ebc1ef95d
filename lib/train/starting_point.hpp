#pragma once
// What a run begins with: drawn weights, those of a Hugging Face folder, or a checkpoint, of
// whatever layout. All ranks come to the same answer.
#include "engine/trainer.hpp"
#include "train/rank_loop.hpp"

namespace cpplan::train {

/// Fills the trainer and returns the number of steps that are already taken. Collective over the
/// world. A damaged checkpoint is passed over for the one before it, and the observer is told
/// which and why. Throws Failure where none can be used though there are some, where the one that
/// was named cannot, or where it belongs to another run.
Index set_starting_point(const TrainingRun&, const Rank&, engine::Trainer&, StepObserver&);

/// Before any rank starts, on the launcher; nothing where the run keeps no checkpoints. Error:
/// another run writes into the folder now, it has checkpoints and nothing says to go on from them,
/// or the one to go on from is incomplete or of another run.
Result<void> check_checkpoints(const TrainingRun&);

}  // namespace cpplan::train
