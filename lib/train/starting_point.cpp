#include "train/starting_point.hpp"

#include <fmt/format.h>

#include "base/failure.hpp"
#include "checkpoint/folder.hpp"
#include "checkpoint/lock.hpp"
#include "checkpoint/verify.hpp"
#include "train/gather.hpp"
#include "train/restore.hpp"

namespace cpplan::train {
namespace fs = std::filesystem;
namespace {
using checkpoint::Manifest;
using Start = plan::Checkpoints::Start;

constexpr double none_left = -1;

class StartingPoint {
 public:
  StartingPoint(const TrainingRun& run, const Rank& rank, engine::Trainer& trainer,
                StepObserver& observer)
      : run_(run), rank_(rank), trainer_(trainer), observer_(observer) {}

  Index set() {
    const Start start = run_.checkpoints ? run_.checkpoints->start : Start::initial;
    if (start == Start::named) return set_named(fs::absolute(run_.checkpoints->start_folder));
    if (start == Start::newest) return set_newest(fs::absolute(run_.checkpoints->start_folder));
    if (!run_.weights.empty()) load_weights(run_.weights, rank_.ops, run_.job.model, trainer_);
    return 0;
  }

 private:
  Index set_named(const fs::path& step_folder) {
    const auto manifest = checkpoint::read_manifest(step_folder);
    if (!manifest) throw Failure(manifest.error().message);
    if (const auto damage = damage_in(step_folder, *manifest); !damage.empty())
      throw Failure(fmt::format("{} is damaged ({})", step_folder.string(), damage));
    return go_on_from(step_folder, *manifest);
  }

  Index set_newest(const fs::path& folder) {
    auto candidates = rank_.number == 0 ? checkpoint::candidates_in(folder)
                                        : std::vector<checkpoint::Candidate>{};
    // Rank 0 alone looks: others may see the folder a moment older.
    for (std::size_t next = 0;;) {
      const double step = broadcast(next_complete(candidates, next));
      if (step == none_left) break;
      const auto path = checkpoint::step_folder(folder, static_cast<Index>(step));
      const auto manifest = checkpoint::read_manifest(path);
      std::string damage =
          manifest ? damage_in(path, *manifest) : std::string(manifest.error().message);
      if (damage.empty()) return go_on_from(path, *manifest);
      pass_over(path, damage);
    }
    return start_afresh(folder, candidates.size());
  }

  /// The step of the next complete candidate; those before it are passed over.
  double next_complete(const std::vector<checkpoint::Candidate>& candidates, std::size_t& next) {
    for (; next < candidates.size(); ++next) {
      const auto& [path, manifest] = candidates[next];
      if (manifest) return static_cast<double>(candidates[next++].manifest->step);
      pass_over(path, manifest.error().message);
    }
    return none_left;
  }

  void pass_over(const fs::path& path, const std::string& why) {
    observer_.notes(fmt::format("{} is passed over: {}", path.filename().string(), why));
  }

  Index start_afresh(const fs::path& folder, std::size_t candidates) {
    const bool some = broadcast(candidates > 0 ? 1 : 0) != 0;
    if (some)
      throw Failure(fmt::format(
          "none of the checkpoints in {} can be used (see above). name another folder, or remove "
          "them to begin with step 1",
          folder.string()));
    if (rank_.number == 0)
      observer_.notes(
          fmt::format("no checkpoint in {} yet: beginning with step 1", folder.string()));
    if (!run_.weights.empty()) load_weights(run_.weights, rank_.ops, run_.job.model, trainer_);
    return 0;
  }

  /// What is damaged, of the whole checkpoint, of which every rank reads its share; the same on
  /// those ranks that found something, and "" only where none did.
  std::string damage_in(const fs::path& step_folder, const Manifest& manifest) {
    const checkpoint::Share share{rank_.number, static_cast<int>(run_.job.dims.world())};
    const auto damage = checkpoint::damage_in(step_folder, manifest, share);
    const std::vector mine = {static_cast<double>(damage.size())};
    double all = 0;
    for (const double found : gather(mine, rank_)) all += found;
    if (all == 0) return "";
    return damage.empty() ? "another rank found damage in it" : damage.front();
  }

  Index go_on_from(const fs::path& step_folder, const Manifest& manifest) {
    if (const auto same = check_same_run(run_, step_folder, manifest); !same)
      throw Failure(same.error().message);
    load_checkpoint(step_folder, manifest, rank_.ops, trainer_);
    if (rank_.number == 0)
      observer_.notes(
          fmt::format("going on after step {} of {} (written by TP {} x CP {} x PP {} x "
                      "DP {})",
                      manifest.step, step_folder.string(), manifest.dims.tp, manifest.dims.cp,
                      manifest.dims.pp, manifest.dims.dp));
    return manifest.step;
  }

  double broadcast(double of_rank_0) {
    const std::vector mine = {of_rank_0};
    return gather(mine, rank_).front();
  }

  const TrainingRun& run_;
  const Rank& rank_;
  engine::Trainer& trainer_;
  StepObserver& observer_;
};

Result<void> check_fresh(const fs::path& folder) {
  const auto steps = checkpoint::steps_in(folder);
  if (steps.empty()) return {};
  return failure(fmt::format(
      "{} has checkpoints of an earlier run, the newest of step {} (they are not written over). go "
      "on with --resume, or name another folder with --set output_dir=...",
      folder.string(), steps.front()));
}

Result<void> check_named(const TrainingRun& run, const fs::path& step_folder) {
  const auto manifest = checkpoint::read_manifest(step_folder);
  if (!manifest) return tl::unexpected(manifest.error());
  return check_same_run(run, step_folder, *manifest);
}

/// Damage inside files is for the ranks to find, who share the work.
Result<void> check_newest(const TrainingRun& run, const fs::path& folder) {
  for (const auto& candidate : checkpoint::candidates_in(folder))
    if (candidate.manifest) return check_same_run(run, candidate.path, *candidate.manifest);
  return {};
}

}  // namespace

Index set_starting_point(const TrainingRun& run, const Rank& rank, engine::Trainer& trainer,
                         StepObserver& observer) {
  return StartingPoint(run, rank, trainer, observer).set();
}

Result<void> check_checkpoints(const TrainingRun& run) {
  if (!run.checkpoints) return {};
  const auto& checkpoints = *run.checkpoints;
  if (auto free = checkpoint::check_unlocked(checkpoints.folder); !free) return free;
  switch (checkpoints.start) {
    case Start::initial:
      return check_fresh(checkpoints.folder);
    case Start::named:
      return check_named(run, checkpoints.start_folder);
    case Start::newest:
      return check_newest(run, checkpoints.start_folder);
  }
  return {};
}

}  // namespace cpplan::train
