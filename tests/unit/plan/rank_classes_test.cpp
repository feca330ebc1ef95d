#include "plan/rank_classes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>
#include <numeric>

#include "plan/make_plan.hpp"
#include "published_jobs.hpp"
#include "support/give.hpp"

namespace cpplan::plan::test {
namespace {
using cpplan::test::give;
using layout::Dim;
using layout::Split;

/// A sanitizer takes time and memory of its own.
#ifdef CPPLAN_SANITIZED
constexpr bool instrumented = true;
#else
constexpr bool instrumented = false;
#endif

engine::Job small_job(layout::ParallelDims dims, Index rows, Index vocabulary = 256) {
  engine::Job job = job_of({64, 4, 8, 4, 96, vocabulary}, dims, rows * dims.cp, 2);
  job.dtype = kernels::DType::f32;
  job.data_parallel = {};
  return job;
}

Flops counted(const engine::Job& job, const layout::Coordinates& at,
              const engine::Documents& documents) {
  return engine::trace_step(job, at, documents).flops();
}

/// FLOPs of attention on each CP rank, counted in its step, greatest over mean.
double counted_imbalance(engine::Job job, const std::vector<Index>& lengths) {
  engine::Documents documents;
  for (const Index tokens : lengths) documents.push_back({tokens, 0});
  const auto split = job.context_parallel.split;
  job.capacity = layout::SequenceMap::padded(split, job.dims.cp, documents,
                                             engine::rows_multiple(job.dims, split))
                     .rows();
  double greatest = 0, sum = 0;
  for (int cp = 0; cp < job.dims.cp; ++cp) {
    layout::Coordinates at;
    at[Dim::cp] = cp;
    const auto trace = engine::trace_step(job, at, documents);
    const auto flops =
        static_cast<double>((trace.flops("attention") + trace.flops("attention_backward")).count);
    greatest = std::max(greatest, flops);
    sum += flops;
  }
  CHECK(greatest * job.dims.cp / sum == doctest::Approx(work_imbalance(job, documents)));
  return greatest * job.dims.cp / sum;
}

double seconds_of_process() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

TEST_CASE("rank classes: every rank does what its class does and all ranks have one") {
  for (const Index vocabulary : {256, 257}) {
    engine::Job job = small_job({4, 3, 2, 2, true}, 48, vocabulary);
    const engine::Documents documents = {{100, 0}, {31, 0}};
    const auto classes = rank_classes(job, documents);
    Index ranks = 0;
    double of_classes = 0, of_all = 0;
    for (const auto& alike : classes) {
      ranks += alike.ranks;
      of_classes += static_cast<double>(alike.ranks * counted(job, alike.at, documents).count);
    }
    const layout::Ranks all(job.dims, job.order);
    for (int rank = 0; rank < all.world(); ++rank)
      of_all += static_cast<double>(counted(job, all.coordinates(rank), documents).count);
    CHECK(ranks == all.world());
    CHECK(of_classes == of_all);
    CHECK(std::ssize(classes) < all.world());
  }
}

TEST_CASE("work per rank: counted FLOPs are even for head-tail and 2 - 1 / C for contiguous") {
  for (const int cp : {2, 3, 4, 5, 8}) {
    CAPTURE(cp);
    engine::Job job = small_job({1, cp, 1, 1}, 0);
    const Index tokens = 480;  // a multiple of 2 C for each
    CHECK(counted_imbalance(job, {tokens}) == doctest::Approx(1));
    CHECK(counted_imbalance(job, {100 * cp, 130 * cp + 1, 317 * cp + 3, 200 * cp}) <= 1.05);
    job.context_parallel.split = Split::contiguous;
    CHECK(counted_imbalance(job, {tokens}) == doctest::Approx(2 - 1.0 / cp).epsilon(0.01));
  }
}

TEST_CASE("work per rank: documents that are short of the chunks cost what they cost") {
  const engine::Job job = small_job({1, 4, 1, 1}, 0);
  const std::vector<Index> tiny(50, 3);
  const double cost = counted_imbalance(job, tiny);
  fmt::print("50 documents of 3 tokens over CP 4: busiest rank {:.2f} of the mean\n", cost);
  CHECK(cost > 1.5);  // three of eight chunks hold a token: ranks 0, 1 and 2
}

TEST_CASE("work per rank: the plan shows what the engine's attention counts") {
  config::TrainingConfig c;
  give(c.batch.micro_batch_size, 1);
  give(c.batch.gradient_accumulation_steps, 2);
  give(c.batch.sequence_len, 4096);
  give(c.parallel.context_parallel_size, 4);
  give(c.model.base_model, "meta-llama/Llama-3.2-1B");
  PlanInputs inputs;
  inputs.world_size = 4;
  auto dense = make_plan(c, inputs, {});
  measure_flops(dense);
  REQUIRE(dense.engine_flops);
  CHECK(dense.engine_flops->attention_imbalance == doctest::Approx(1));
  CHECK(dense.engine_flops->formula < dense.engine_flops->mean);
  CHECK(dense.engine_flops->formula > 0.8 * dense.engine_flops->mean);
  inputs.documents = {9, 11, 3, 5, 4000};
  auto packed = make_plan(c, inputs, {});
  measure_flops(packed);
  CHECK(packed.engine_flops->attention_imbalance > 1);
  CHECK(packed.engine_flops->attention_imbalance < 1.05);
}

TEST_CASE("scale: every distinct rank of 16384 is measured in a second and 200 MB") {
  const auto job = llama_405b_job({8, 16, 16, 8, true}, 131072, 16);
  const auto documents = engine::dense_documents(job);
  const double begin = seconds_of_process(), before = peak_mib();
  const auto classes = rank_classes(job, documents);
  Index ranks = 0;
  Bytes most;
  for (const auto& alike : classes) {
    ranks += alike.ranks;
    most = std::max(most, engine::meta_run(job, alike.at, documents).memory.total());
  }
  const double seconds = seconds_of_process() - begin, mib = peak_mib() - before;
  fmt::print("405B on 16,384 ranks: {} distinct, {:.2f} s of one core, {:.0f} MiB more\n",
             classes.size(), seconds, mib);
  CHECK(ranks == 16384);
  CHECK(most > Bytes{});
  if (instrumented) return;
  CHECK(seconds < 20);  // a slow, busy machine
  CHECK(mib < 200);
}

}  // namespace cpplan::plan::test
