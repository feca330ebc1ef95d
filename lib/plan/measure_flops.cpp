// FLOPs of a step, counted in the meta run of every rank that differs.
#include <algorithm>

#include "plan/make_plan.hpp"
#include "plan/measured_job.hpp"
#include "plan/model_flops.hpp"
#include "plan/rank_classes.hpp"

namespace cpplan::plan {
namespace {
using layout::Dim;

/// Micro-batches by which a schedule can be longer.
int unit_of(const engine::Job& job) {
  return job.virtual_stages > 1 ? job.dims.pp : 1;
}

engine::Job with_micro_batches(engine::Job job, int micro_batches) {
  job.micro_batches = micro_batches;
  return job;
}

struct RankFlops {
  Flops all, attention;
};

RankFlops counted(const engine::StepTrace& trace) {
  return {trace.flops(), trace.flops("attention") + trace.flops("attention_backward")};
}

/// FLOPs are the same for every micro-batch: two lengths of a step give every other.
RankFlops flops_of(const MeasuredJob& measured, const layout::Coordinates& at) {
  const engine::Job& job = measured.job;
  const int unit = unit_of(job);
  const auto of_units = [&](int units) {
    return counted(
        engine::trace_step(with_micro_batches(job, units * unit), at, measured.documents));
  };
  const Index units = job.micro_batches / unit;
  const RankFlops one = of_units(1);
  if (units == 1) return one;
  const RankFlops two = of_units(2);
  return {one.all + (units - 1) * (two.all - one.all),
          one.attention + (units - 1) * (two.attention - one.attention)};
}

/// Attention of the ranks that differ from rank 0 only along CP.
class AttentionWork {
 public:
  void add(const RankClass& ranks, Flops attention) {
    layout::Coordinates elsewhere = ranks.at;
    elsewhere[Dim::cp] = 0;
    if (!(elsewhere == layout::Coordinates{})) return;
    const auto flops = static_cast<double>(attention.count);
    greatest_ = std::max(greatest_, flops);
    sum_ += flops * static_cast<double>(ranks.ranks);
    ranks_ += static_cast<double>(ranks.ranks);
  }
  double imbalance() const { return sum_ > 0 ? greatest_ * ranks_ / sum_ : 1; }

 private:
  double greatest_ = 0, sum_ = 0, ranks_ = 0;
};

EngineFlops flops_of(const MeasuredJob& measured) {
  const layout::Ranks ranks(measured.job.dims, measured.job.order);
  const auto world = static_cast<double>(ranks.world());
  EngineFlops result;
  AttentionWork attention;
  for (const RankClass& alike : rank_classes(measured.job, measured.documents)) {
    const RankFlops flops = flops_of(measured, alike.at);
    attention.add(alike, flops.attention);
    result.mean += static_cast<double>(flops.all.count) * static_cast<double>(alike.ranks) / world;
    if (flops.all <= result.busiest) continue;
    result.busiest = flops.all;
    result.busiest_rank = ranks.rank(alike.at);
  }
  result.attention_imbalance = attention.imbalance();
  result.formula = model_flops(measured.job, measured.documents) / world;
  return result;
}

}  // namespace

void measure_flops(Plan& plan) {
  if (const auto measured = measured_job(plan)) plan.engine_flops = flops_of(*measured);
}

}  // namespace cpplan::plan
