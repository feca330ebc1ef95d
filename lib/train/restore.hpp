#pragma once
// From the files of a checkpoint or a model to the parameters that this rank holds.
#include <filesystem>

#include "checkpoint/manifest.hpp"
#include "engine/trainer.hpp"
#include "train/training_run.hpp"

namespace cpplan::train {

/// Error, with what to do about it: the checkpoint is of other data, another order of it or another
/// number of samples a step, so that the run would not go on but be a third one.
Result<void> check_same_run(const TrainingRun&, const std::filesystem::path& step_folder,
                            const checkpoint::Manifest&);

/// Weights and optimizer state. Weights in another number format are converted from the most exact
/// ones that are there. Throws Failure where tensors are missing or of another model.
void load_checkpoint(const std::filesystem::path& step_folder, const checkpoint::Manifest&,
                     kernels::Ops&, engine::Trainer&);

/// Weights alone, of a folder that Hugging Face's library wrote. Throws Failure likewise.
void load_weights(const std::filesystem::path& folder, kernels::Ops&, const model::ModelSpec&,
                  engine::Trainer&);
void load_weights(const std::filesystem::path& folder, kernels::Ops&, const model::ModelSpec&,
                  std::span<const engine::Parameter>);

/// Error: the folder has no weights that can be read, or not exactly those of the model.
Result<void> check_weights(const std::filesystem::path& folder, const model::ModelSpec&);

}  // namespace cpplan::train
