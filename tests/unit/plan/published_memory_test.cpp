// The peak memory that Megatron-LM was measured to take, against the meta run of the engine in the
// same settings, and with the one thing that the engine does not hold.
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

/// What Megatron-LM holds beside, and the engine adds in place: the head's weight gradient in bf16,
/// before it is summed in fp32, on the stage that has the head.
Bytes head_gradient(const MeasuredRun& run) {
  return {2 * run.shape.hidden * run.shape.vocabulary / run.dims.tp};
}

double gib(Bytes bytes) {
  return static_cast<double>(bytes.count) / (1 << 30);
}

}  // namespace

TEST_CASE("published memory: the engine takes what Megatron-LM was measured to take") {
  fmt::print("{:<22} {:>7} {:>12} {:>12} {:>8} {:>14} {:>8}\n", "run", "length", "measured",
             "engine", "error", "head gradient", "error");
  for (const MeasuredRun& run : simumax_runs) {
    if (run.micro_batches != 4) continue;  // the peak does not depend on it
    const Bytes engine = heaviest_rank(job_of(run)), beside = head_gradient(run);
    const double alone = gib(engine) / run.peak_gib - 1;
    const double error = gib(engine + beside) / run.peak_gib - 1;
    fmt::print("{:<22} {:>7} {:>8.2f} GiB {:>8.2f} GiB {:>+6.1f} % {:>+10.2f} GiB {:>+6.1f} %\n",
               run.name, run.sequence, run.peak_gib, gib(engine), 100 * alone, gib(beside),
               100 * error);
    CAPTURE(run.name);
    CHECK(std::abs(error) <= 0.05);
  }
}

}  // namespace cpplan::plan::test
