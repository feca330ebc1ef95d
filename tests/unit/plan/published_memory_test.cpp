// The peak memory that Megatron-LM was measured to take, against the meta run of the engine in the
// same settings.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "engine/meta_run.hpp"
#include "published_jobs.hpp"

namespace cpplan::plan::test {
namespace {

Bytes heaviest_rank(const engine::Job& job) {
  Bytes most;
  for (int stage = 0; stage < job.dims.pp; ++stage) {
    layout::Coordinates at;
    at[layout::Dim::pp] = stage;
    most = std::max(most, engine::meta_run(job, at).memory.total());
  }
  return most;
}

double gib(Bytes bytes) {
  return static_cast<double>(bytes.count) / (1 << 30);
}

}  // namespace

TEST_CASE("published memory: the engine takes what Megatron-LM was measured to take") {
  fmt::print("{:<22} {:>7} {:>12} {:>12} {:>8}\n", "run", "length", "measured", "engine", "error");
  for (const MeasuredRun& run : simumax_runs) {
    if (run.micro_batches != 4) continue;  // the peak does not depend on it
    const double engine = gib(heaviest_rank(job_of(run))), error = engine / run.peak_gib - 1;
    fmt::print("{:<22} {:>7} {:>8.2f} GiB {:>8.2f} GiB {:>+6.1f} %\n", run.name, run.sequence,
               run.peak_gib, engine, 100 * error);
    CAPTURE(run.name);
    CHECK(std::abs(error) <= 0.05);
  }
}

}  // namespace cpplan::plan::test
