#pragma once
// One MPI rank of a run, from init to exit: the only place where a failed rank is ended.
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "record/rank_report.hpp"
#include "record/run_folder.hpp"
#include "train/connections.hpp"
#include "train/in_process.hpp"

namespace cpplan::train {

struct WorkerSettings {
  int rank = 0;
  /// By nobody: a rank that fails says so itself and aborts the job.
  record::WatchedThrough watched = record::WatchedThrough::nobody;
  std::optional<record::RunFolder> folder;     // of the launcher that watches us through it
  std::vector<std::filesystem::path> records;  // where rank 0 writes the record, or what there is
  std::optional<Seconds> timeout;
  device::Backend backend = device::Backend::cpu;
  DeviceTransport transport = DeviceTransport::automatic;  // of tensors of devices
  int local_rank = 0;  // among the ranks of this host: which of its devices it computes on
  /// Adds to the record of rank 0 what the worker does not know, before it is written.
  std::function<void(record::RunRecord&)> complete;
};

/// For a watched rank, before anything that takes time: the launcher ends us; when it is gone
/// mpirun ends, and then we do. SIGTERM is mpirun's, for the ranks beside one that died: they stay,
/// so that the launcher can see which one that was.
void follow_the_launcher();

/// A watched rank that cannot even start leaves the reason where its launcher looks; the caller
/// ends it.
void refuse_to_start(const WorkerSettings&, std::string_view words);

/// Exit code of a rank that failed.
inline constexpr int rank_failed = 4;

/// Runs the rank and returns the record of rank 0 (elsewhere without its communication); its `exit`
/// is `checkpointed` on all ranks where the run was asked to end: by SIGUSR1, and by SIGTERM where
/// nobody watches us. A rank
/// that fails does not come back: it leaves its last words and ends the process with rank_failed.
/// Error: the run folder or the record cannot be written.
Result<record::RunRecord> run_mpi_worker(const TrainingRun&, const WorkerSettings&,
                                         const RunListener&);

}  // namespace cpplan::train
