#include "plan/checkpoints.hpp"

#include <filesystem>

namespace cpplan::plan {
namespace {
using config::TrainingConfig;

bool gives_interval(const TrainingConfig& config) {
  const auto& b = config.batch;
  return b.save_steps.value_or(0) > 0 || b.saves_per_epoch.value_or(0) > 0 ||
         b.save_strategy.value_or("no") != "no" || config.megatron.save_interval.value_or(0) > 0;
}

bool asks(const TrainingConfig& config) {
  const auto& c = config.checkpoint;
  return (c.folder.given() && gives_interval(config)) || c.resume_from.given() ||
         c.auto_resume.value_or(false);
}

/// Where the config names no folder: beside where the run is started, under the config's name.
std::string folder_of(const TrainingConfig& config) {
  if (config.checkpoint.folder.given()) return *config.checkpoint.folder;
  const auto name = std::filesystem::path(config.file).stem().string();
  return (name.empty() ? "run" : name) + ".checkpoints";
}

/// Below 1 Hugging Face's limit is none. Megatron deletes the checkpoint before but for those of
/// the interval.
void choose_retention(const TrainingConfig& config, Checkpoints& checkpoints) {
  if (const Index limit = config.batch.save_total_limit.value_or(0); limit > 0)
    checkpoints.keep = limit;
  if (const Index interval = config.megatron.save_retain_interval.value_or(0); interval > 0) {
    checkpoints.keep = 1;
    checkpoints.retain_interval = interval;
  }
}

void choose_start(const TrainingConfig& config, const PlanInputs& inputs,
                  Checkpoints& checkpoints) {
  const auto& c = config.checkpoint;
  if (inputs.resume || c.auto_resume.value_or(false)) {
    checkpoints.start = Checkpoints::Start::newest;
    checkpoints.start_folder = checkpoints.folder;
  } else if (c.resume_from.given()) {
    // Megatron's load is the folder of all its checkpoints, axolotl's key one of them.
    const bool megatron = config.dialect == config::Dialect::megatron;
    checkpoints.start = megatron ? Checkpoints::Start::newest : Checkpoints::Start::named;
    checkpoints.start_folder = *c.resume_from;
  }
}

}  // namespace

std::optional<Checkpoints> checkpoints_of(const TrainingConfig& config, const PlanInputs& inputs,
                                          const Steps& steps) {
  const bool by_flag = inputs.save_every || inputs.resume;
  const bool stand_in = inputs.shrink || inputs.synthetic;
  if (!by_flag && (stand_in || !asks(config))) return {};
  Checkpoints checkpoints{.folder = folder_of(config), .writer = inputs.checkpoint_writer};
  if (inputs.save_every)
    checkpoints.interval = inputs.save_every;
  else if (gives_interval(config))
    checkpoints.interval = steps.saves.interval;
  choose_retention(config, checkpoints);
  choose_start(config, inputs, checkpoints);
  return checkpoints;
}

}  // namespace cpplan::plan
