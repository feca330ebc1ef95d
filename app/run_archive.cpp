#include "app/run_archive.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "base/files.hpp"
#include "launch/outcome_json.hpp"
#include "plan/make_plan.hpp"
#include "report/plan_json.hpp"

namespace cpplan::app {
namespace {
namespace fs = std::filesystem;

std::string now_text() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr)));
}

/// A folder of checkpoints may be the same one.
Result<void> check_fresh(const record::KeptFolder& names) {
  std::error_code ignored;
  if (!fs::exists(names.plan_file(), ignored)) return {};
  return failure(fmt::format(
      "{} has the logs of an earlier run (they are not written over). go on with --resume, which "
      "adds to them, or name another folder",
      names.path.string()));
}

Result<void> write_plan(const record::KeptFolder& names, plan::Plan plan) {
  plan::measure_engine(plan);
  plan::measure_flops(plan);
  plan::predict_time(plan);
  return write_file_atomically(names.plan_file(), report::plan_json(plan, {}).dump() + "\n");
}

}  // namespace

Result<RunArchive> RunArchive::open(const RunOptions& options, plan::Plan plan) {
  RunArchive archive;
  if (!options.run_folder) return archive;
  const record::KeptFolder names{*options.run_folder};
  auto lock = checkpoint::FolderLock::take(names.path, now_text(), checkpoint::LockedFor::logs);
  if (!lock) return tl::unexpected(lock.error());
  if (!options.resume)
    if (const auto fresh = check_fresh(names); !fresh) return tl::unexpected(fresh.error());
  std::error_code ignored;
  fs::remove(names.outcome_file(), ignored);
  if (const auto written = write_plan(names, std::move(plan)); !written)
    return tl::unexpected(written.error());
  archive.folder_.emplace(Folder{names, std::move(*lock), {}});
  return archive;
}

void RunArchive::add_line(int rank, const std::string& line) {
  if (!folder_) return;
  auto [log, is_new] = folder_->logs.try_emplace(rank);
  if (is_new) {
    log->second.open(folder_->names.rank_log(rank), std::ios::app);
    log->second << "# " << now_text() << '\n';
  }
  log->second << line << std::endl;  // flushed: it is read when things went wrong
}

void RunArchive::add_outcome(const launch::Outcome& outcome, std::string_view message,
                             int exit_code) const {
  if (!folder_) return;
  const Json json = launch::outcome_json(outcome, message, exit_code);
  if (const auto written = write_file_atomically(folder_->names.outcome_file(), json.dump() + "\n");
      !written)
    fmt::print(stderr, "error: {}\n", written.error().message);
}

}  // namespace cpplan::app
