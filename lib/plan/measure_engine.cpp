// What the meta run of the engine says of a plan's ranks.
#include <algorithm>
#include <set>

#include "engine/meta_run.hpp"
#include "plan/make_plan.hpp"

namespace cpplan::plan {
namespace {
using layout::Dim;

/// Stages that can differ: the ends, and of those between the first of each number of layers, which
/// keeps the most micro-batches in flight.
std::vector<int> distinct_stages(const std::vector<int>& stage_layers) {
  const int last = static_cast<int>(stage_layers.size()) - 1;
  std::vector<int> stages;
  std::set<int> seen;
  for (int stage = 0; stage <= last; ++stage) {
    const bool end = stage == 0 || stage == last;
    const bool fresh = !end && seen.insert(stage_layers[static_cast<std::size_t>(stage)]).second;
    if (end || fresh) stages.push_back(stage);
  }
  return stages;
}

/// A step of many micro-batches without running each: from one in flight on every stage on, memory
/// stays as it is and every further micro-batch sends the same again.
engine::Footprint footprint_of(const engine::Job& job, const layout::Coordinates& at) {
  const int full = job.dims.pp + 1;
  if (job.micro_batches <= full + 1) return engine::meta_run(job, at);
  engine::Job shorter = job;
  shorter.micro_batches = full;
  const auto base = engine::meta_run(shorter, at);
  shorter.micro_batches = full + 1;
  auto footprint = engine::meta_run(shorter, at);
  const Index more = job.micro_batches - full - 1;
  for (auto& [key, traffic] : footprint.traffic) {
    const auto before = base.traffic.find(key);
    expect(before != base.traffic.end(), "micro-batches are alike");
    traffic.sent += more * (traffic.sent - before->second.sent);
    traffic.messages += more * (traffic.messages - before->second.messages);
  }
  footprint.flops += more * (footprint.flops - base.flops);
  return footprint;
}

EngineMemory memory_of(const engine::MemoryPlan& m, int rank) {
  EngineMemory memory;
  memory.parameters = m.parameters;
  memory.gradients = m.gradients;
  memory.optimizer = m.optimizer;
  for (const Bytes saved : m.saved) memory.activations += saved;
  memory.buffers = m.scratch + m.rebuilt + m.inputs + m.control;
  memory.total = m.total();
  memory.heaviest_rank = rank;
  return memory;
}

std::vector<TrafficRow> traffic_of(const engine::Footprint& footprint) {
  std::vector<TrafficRow> rows;
  for (const auto& [key, traffic] : footprint.traffic)
    rows.push_back({key.first, key.second, traffic.sent, traffic.messages});
  return rows;
}

}  // namespace

void measure_engine(Plan& plan) {
  const auto job = make_job(plan);
  if (!job) return;
  const layout::Ranks ranks(job->dims, job->order);
  for (const int stage : distinct_stages(job->stage_layers)) {
    layout::Coordinates at;
    at[Dim::pp] = stage;
    const auto footprint = footprint_of(*job, at);
    if (stage == 0) plan.engine_traffic = traffic_of(footprint);
    if (!plan.engine_memory || footprint.memory.total() > plan.engine_memory->total)
      plan.engine_memory = memory_of(footprint.memory, ranks.rank(at));
  }
}

}  // namespace cpplan::plan
