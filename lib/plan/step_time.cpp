#include "plan/step_time.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/model_flops.hpp"
#include "plan/simulated_world.hpp"

namespace cpplan::plan {
namespace {
using cluster::HardwareProfile;
using cluster::Precision;

Precision precision_of(kernels::DType dtype) {
  if (dtype == kernels::DType::f64) return Precision::fp64;
  return dtype == kernels::DType::bf16 ? Precision::bf16 : Precision::fp32;
}

bool between_stages(std::string_view group, const engine::Job& job) {
  return job.dims.pp > 1 && (group == "pp" || group == "embedding" || group == "world");
}

void add_exposed(StepTime& time, const std::string& group, double seconds) {
  const auto row = std::ranges::find(time.exposed, group, &ExposedRow::group);
  if (row != time.exposed.end())
    row->seconds += seconds;
  else if (seconds > 0)
    time.exposed.push_back({group, seconds});
  time.exposed_seconds += seconds;
}

/// Means over the world's ranks; all of them are idle from their own end to the last one's.
StepTime sum_up(const std::vector<SimulatedRank>& ranks, const std::vector<SimulatedTime>& times,
                const engine::Job& job) {
  StepTime sum;
  for (const auto& time : times) sum.seconds = std::max(sum.seconds, time.end);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double share = ranks[i].stands_for / static_cast<double>(job.dims.world());
    const SimulatedTime& time = times[i];
    sum.compute_seconds += share * time.compute;
    sum.bubble_seconds += share * (sum.seconds - time.end);
    for (const auto& [group, seconds] : time.waiting)
      (between_stages(group, job) ? sum.bubble_seconds : sum.imbalance_seconds) += share * seconds;
    for (const auto& [group, seconds] : time.transfer) add_exposed(sum, group, share * seconds);
    sum.executed_flops += ranks[i].stands_for * static_cast<double>(ranks[i].trace.flops().count);
  }
  return sum;
}

Result<StepTime> simulate_step(const engine::Job& job, const engine::Documents& documents,
                               const HardwareProfile& profile) {
  const auto ranks = simulated_ranks(job, documents, profile);
  if (!ranks) return tl::unexpected(ranks.error());
  const bool shared = profile.cores && job.dims.world() > 1;
  const SimulationSettings settings{precision_of(job.dtype),
                                    shared ? cluster::Neighbours::busy : cluster::Neighbours::idle};
  return sum_up(*ranks, simulate(*ranks, profile, settings), job);
}

/// `later` is `groups` groups of micro-batches after `sooner`'s first: straight on for `more`.
double go_on(double sooner, double later, double more) {
  return later + more * (later - sooner);
}

StepTime go_on(const StepTime& sooner, const StepTime& later, double more) {
  StepTime time = later;
  for (const auto member :
       {&StepTime::seconds, &StepTime::compute_seconds, &StepTime::bubble_seconds,
        &StepTime::imbalance_seconds, &StepTime::exposed_seconds, &StepTime::executed_flops})
    time.*member = go_on(sooner.*member, later.*member, more);
  for (ExposedRow& row : time.exposed) {
    const auto before = std::ranges::find(sooner.exposed, row.group, &ExposedRow::group);
    if (before != sooner.exposed.end()) row.seconds = go_on(before->seconds, row.seconds, more);
  }
  return time;
}

/// Once the pipeline is full, each further group of micro-batches (one for each stage) takes as
/// long as the one before: two lengths give every other.
Result<StepTime> simulate_any_length(const engine::Job& job, const engine::Documents& documents,
                                     const HardwareProfile& profile) {
  const int group = job.dims.pp, first = 2 * group, second = 3 * group;
  if (job.micro_batches <= second) return simulate_step(job, documents, profile);
  engine::Job shorter = job;
  shorter.micro_batches = first;
  const auto sooner = simulate_step(shorter, documents, profile);
  if (!sooner) return sooner;
  shorter.micro_batches = second;
  const auto later = simulate_step(shorter, documents, profile);
  return go_on(*sooner, *later, static_cast<double>(job.micro_batches - second) / group);
}

}  // namespace

Result<StepTime> predict_step(const engine::Job& job, const engine::Documents& documents,
                              const HardwareProfile& profile) {
  const Precision precision = precision_of(job.dtype);
  const double peak = profile.peak(precision);
  if (peak <= 0)
    return failure(
        fmt::format("the hardware profile {} has no rate for {} (it was not measured). "
                    "use cpplan.run.dtype: fp32",
                    profile.name, cluster::name_of(precision)));
  auto time = simulate_any_length(job, documents, profile);
  if (!time) return time;
  const auto world = static_cast<double>(job.dims.world());
  time->hardware = profile.name;
  time->precision = cluster::name_of(precision);
  time->model_flops = model_flops(job, documents);
  double tokens = 0;
  for (const auto& document : documents) tokens += static_cast<double>(document.tokens);
  tokens *= static_cast<double>(job.micro_batches) * job.dims.dp;
  time->tokens_per_second_per_gpu = tokens / time->seconds / world;
  time->mfu = time->model_flops / (time->seconds * world * peak);
  time->hfu = time->executed_flops / (time->seconds * world * peak);
  return time;
}

}  // namespace cpplan::plan
