// Published step times against the simulation on the profile of a data sheet. The efficiencies are
// the profile's own, and nothing is fitted to a row: what is shown is how far the prediction is
// off.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <vector>

#include "plan/model_flops.hpp"
#include "plan/step_time.hpp"
#include "published_jobs.hpp"

namespace cpplan::plan::test {
namespace {

enum class Again { nothing, everything };

/// The sanitizers would take minutes for what the others do in seconds, and the code is the same.
#ifdef CPPLAN_SANITIZED
constexpr int most_micro_batches = 4;
#else
constexpr int most_micro_batches = std::numeric_limits<int>::max();
#endif

struct Row {
  const char *source, *name, *gpu;
  engine::Job job;
  double seconds;
};

/// Step time where TFLOP/s a GPU are published: FLOPs in the convention of `squares`, the share of
/// the full attention square that they count.
double seconds_at(const engine::Job& job, double tflops, double squares) {
  engine::Job no_attention = job;
  no_attention.attention_window = 1;
  const auto documents = engine::dense_documents(job);
  const double linear = model_flops(no_attention, documents);
  const double half = model_flops(job, documents) - linear;
  return (linear + 2 * squares * half) / (static_cast<double>(job.dims.world()) * tflops * 1e12);
}

Row with_tflops(const char* source, const char* name, const engine::Job& job, double tflops,
                double squares) {
  return {source, name, "H100-80GB", job, seconds_at(job, tflops, squares)};
}

/// Megatron's GPT without sequence parallelism and with full recomputation, or with it and flash
/// attention's own.
engine::Job korthikanti(const Shape& shape, layout::ParallelDims dims, int micro_batches,
                        int chunks, int micro_batch_size, Again again) {
  dims.sequence_parallel = again == Again::nothing;
  engine::Job job = job_of(shape, dims, 2048, micro_batches, chunks);
  job.micro_batch_size = micro_batch_size;
  job.capacity = 2048 * micro_batch_size;
  if (again == Again::everything) job.recompute = engine::Recompute::full;
  return job;
}

void add_korthikanti(std::vector<Row>& rows) {
  const char* source = "arXiv 2205.05198";
  struct Run {
    const char *full, *kept;
    Shape shape;
    layout::ParallelDims dims;
    int micro_batches, chunks, micro_batch_size;
    double full_seconds, kept_seconds;
  };
  for (const Run& r :
       {Run{"22B full", "22B SP", gpt(6144, 48, 64, 51200), {8, 1, 1, 1}, 1, 1, 4, 1.42, 1.10},
        Run{"175B full",
            "175B SP",
            gpt(12288, 96, 96, 51200),
            {8, 1, 8, 1},
            64,
            3,
            1,
            18.13,
            13.75},
        Run{"530B full",
            "530B SP",
            gpt(20480, 105, 128, 51200),
            {8, 1, 35, 1},
            280,
            3,
            1,
            49.05,
            37.83},
        Run{"1T full",
            "1T SP",
            gpt(25600, 128, 160, 51200),
            {8, 1, 64, 1},
            512,
            1,
            1,
            94.42,
            71.49}}) {
    const auto job = [&](Again again) {
      return korthikanti(r.shape, r.dims, r.micro_batches, r.chunks, r.micro_batch_size, again);
    };
    rows.push_back({source, r.full, "A100-80GB", job(Again::everything), r.full_seconds});
    rows.push_back({source, r.kept, "A100-80GB", job(Again::nothing), r.kept_seconds});
  }
}

void add_llama(std::vector<Row>& rows) {
  const auto job = [](layout::ParallelDims dims, Index sequence, int micro_batches) {
    engine::Job made = llama_405b_job(dims, sequence, micro_batches);
    made.context_parallel.layer_types = {engine::CpCommType::all_gather};
    return made;
  };
  const char* source = "arXiv 2407.21783";
  rows.push_back(
      with_tflops(source, "405B 8k dp64", job({8, 1, 16, 64, true}, 8192, 32), 430, 0.5));
  rows.push_back(
      with_tflops(source, "405B 8k dp128", job({8, 1, 16, 128, true}, 8192, 16), 400, 0.5));
  rows.push_back(
      with_tflops(source, "405B 131k cp16", job({8, 16, 16, 8, true}, 131072, 16), 380, 0.5));
}

void add_megatron(std::vector<Row>& rows) {
  struct Run {
    const char* name;
    Index heads, hidden, layers;
    int tp, pp, batch;
    double tflops;
  };
  for (const Run& r : {Run{"1.7B", 16, 2048, 24, 1, 1, 192, 408.8},
                       {"7.1B", 32, 4096, 30, 2, 1, 192, 465.9},
                       {"16B", 48, 6144, 32, 4, 1, 192, 489.1},
                       {"32B", 56, 7168, 48, 8, 1, 192, 459.6},
                       {"70B", 64, 8192, 84, 8, 2, 384, 419.7},
                       {"119B", 80, 10240, 92, 8, 4, 768, 420.5},
                       {"177B", 96, 12288, 96, 8, 6, 1152, 432.8},
                       {"314B", 128, 16384, 96, 8, 8, 1536, 474.4},
                       {"462B", 144, 18432, 112, 8, 16, 3072, 459.9}}) {
    engine::Job job = job_of(gpt(r.hidden, r.layers, r.heads, 131072),
                             {r.tp, 1, r.pp, 48, r.tp > 1}, 4096, r.batch / 48);
    job.data_parallel.overlap_gradients = true;
    rows.push_back(with_tflops("Megatron-LM's table", r.name, job, r.tflops, 1.0));
  }
}

void check(const Row& row) {
  const auto profile = cluster::find_hardware(row.gpu);
  REQUIRE(profile);
  const auto time = predict_step(row.job, engine::dense_documents(row.job), *profile);
  REQUIRE(time);
  const double ratio = time->seconds / row.seconds;
  fmt::print(
      "{:<20} {:<20} {:>3} {:>10.3f} s {:>10.3f} s {:>+7.1f} %   MFU {:>5.1f} %  HFU {:>5.1f} "
      "%  bubble {:>4.1f} %  exposed {:>4.1f} %\n",
      row.source, row.name, row.job.micro_batches, row.seconds, time->seconds, 100 * (ratio - 1),
      100 * time->mfu, 100 * time->hfu, 100 * time->bubble_seconds / time->seconds,
      100 * time->exposed_seconds / time->seconds);
  CAPTURE(row.name);
  CHECK(ratio > 0.33);
  CHECK(ratio < 3.0);
}

}  // namespace

TEST_CASE("published times: the simulation is of their order and its error is shown") {
  std::vector<Row> rows;
  for (const MeasuredRun& run : simumax_runs)
    rows.push_back(
        {"SimuMax, 8 x B200", run.name, "B200", job_of(run), run.step_milliseconds / 1e3});
  add_llama(rows);
  add_korthikanti(rows);
  add_megatron(rows);
  fmt::print("{:<20} {:<20} {:>3} {:>12} {:>12} {:>9}\n", "source", "run", "mb", "published",
             "predicted", "error");
  for (const Row& row : rows)
    if (row.job.micro_batches <= most_micro_batches) check(row);
}

}  // namespace cpplan::plan::test
