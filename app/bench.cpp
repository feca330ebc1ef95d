// Measures this machine: its ops alone in this process, then beside each other and the link between
// them in two ranks that it starts.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "app/exit_code.hpp"
#include "app/progress_bar.hpp"
#include "app/subcommands.hpp"
#include "base/failure.hpp"
#include "base/files.hpp"
#include "bench/link_bench.hpp"
#include "bench/profile.hpp"
#include "cluster/machine.hpp"
#include "comm/mpi.hpp"
#include "kernels/cpu/cpu_ops.hpp"
#include "launch/scratch_folder.hpp"
#include "launch/started_as.hpp"
#include "launch/supervisor.hpp"
#include "record/rank_status.hpp"

namespace cpplan::app {
namespace {

constexpr int ranks = 2;
constexpr std::string_view result_file = "profile.json";

int stop_with(const Error& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return environment;
}

Result<void> write_profile(const std::filesystem::path& path,
                           const cluster::HardwareProfile& profile) {
  return write_file_atomically(path, cluster::to_json(profile).dump() + "\n");
}

cluster::HardwareProfile measure(const bench::Barrier& together, const bench::Progress& progress) {
  kernels::NoTrace trace;
  const auto ops = kernels::make_cpu_ops(trace);
  const auto machine = cluster::this_machine();
  return bench::profile_of(bench::measure_ops(*ops, together, progress), "this machine",
                           machine ? machine->cores : 1);
}

/// A rank of two: measures when the other does, and rank 0 leaves what it found in the folder.
int measure_beside(const launch::RankIdentity& identity) {
  comm::Watchdog watchdog([](const std::string&, std::chrono::milliseconds) {});
  kernels::NoTrace trace;
  comm::MpiWorld world(watchdog);
  const auto pair = comm::make_mpi_communicator(world, "world", {0, 1}, identity.rank, trace);
  std::vector<double> word(1);
  const kernels::Tensor flag{reinterpret_cast<std::byte*>(word.data()), 1, 1, 1,
                             kernels::DType::f64};
  const auto together = [&] { pair->all_reduce(flag).wait(); };
  auto profile = measure(together, [](Index, Index) {});
  profile.node = bench::measure_link(*pair);
  if (identity.rank != 0 || !identity.folder) return ok;
  const auto written = write_profile(identity.folder->path / result_file, profile);
  return written ? ok : stop_with(written.error());
}

Result<cluster::HardwareProfile> read_profile(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  const auto json = Json::parse(*text);
  if (!json) return tl::unexpected(json.error());
  return cluster::hardware_from(*json);
}

/// Starts two ranks of this program, and reads what they found.
Result<cluster::HardwareProfile> measure_together(const BenchOptions& options) {
  const auto scratch = launch::ScratchFolder::create();
  if (!scratch) return tl::unexpected(scratch.error());
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto command =
      launch::mpirun_command({.world = ranks,
                              .executable = self.string(),
                              .arguments = options.arguments,
                              .folder = scratch->folder(),
                              .user = geteuid() == 0 ? launch::User::root : launch::User::other});
  const launch::Listener listener{
      .line = [](int rank, launch::Stream,
                 const std::string& line) { fmt::print(stderr, "rank {}: {}\n", rank, line); },
      .progress = {},
      .stop_requested = [] { return false; }};
  const auto processes = launch::make_processes();
  const auto outcome = launch::supervise(*processes, command,
                                         {.world = ranks, .folder = scratch->folder()}, listener);
  if (!outcome) return tl::unexpected(outcome.error());
  if (outcome->end != launch::Outcome::End::finished)
    return failure("the two ranks that measure the link did not end well. try again");
  return read_profile(scratch->folder().path / result_file);
}

int run_rank(const launch::RankIdentity& identity) {
  if (identity.world != ranks)
    return stop_with(
        {fmt::format("bench measures with {} ranks, not {} (it starts them itself). "
                     "use cpplan bench without mpirun",
                     ranks, identity.world)});
  std::optional<record::StatusFile> status;
  if (identity.folder) {
    auto file =
        record::StatusFile::create(identity.folder->status_file(identity.rank), identity.rank);
    if (!file) return stop_with(file.error());
    status = std::move(*file);
  }
  try {
    const int code = measure_beside(identity);
    if (status) status->finished();
    return code;
  } catch (const Failure& failure) {
    return stop_with({failure.what()});
  }
}

void print_summary(const cluster::HardwareProfile& profile) {
  fmt::print("# {} cores; {:.1f} GFLOP/s of products and {:.1f} GB/s of copies on one\n",
             profile.cores.value_or(1), profile.peak(cluster::Precision::fp32) / 1e9,
             profile.bytes_per_second / 1e9);
  fmt::print("# a message to another rank: {:.2f} us for 8 bytes, {:.2f} GB/s at 1 MiB\n",
             profile.node.message(8) * 1e6, 1048576 / profile.node.message(1048576) / 1e9);
}

}  // namespace

int bench(const BenchOptions& options) {
  const auto rank = launch::started_as(cluster::process_variables());
  if (!rank) return stop_with(rank.error());
  if (*rank) return run_rank(**rank);
  ProgressBar bar(100);
  auto profile = measure([] {}, [&](Index done, Index total) { bar.show(50 * done / total); });
  if (*profile.cores > 1) {
    const auto together = measure_together(options);
    bar.clear();
    if (!together) return stop_with(together.error());
    profile = bench::with_neighbours(std::move(profile), *together);
  }
  bar.clear();
  if (options.out) {
    const auto written = write_profile(*options.out, profile);
    if (!written) return stop_with(written.error());
    print_summary(profile);
    return ok;
  }
  fmt::print("{}\n", cluster::to_json(profile).dump());
  return ok;
}

}  // namespace cpplan::app
