// What the meta run of the engine says of a plan's ranks.
#include <algorithm>
#include <set>

#include "engine/meta_run.hpp"
#include "plan/engine_communication.hpp"
#include "plan/make_plan.hpp"

namespace cpplan::plan {
namespace {
using layout::Dim;

/// Layers of each model chunk of a stage.
std::vector<int> chunks_of(const engine::Job& job, int stage) {
  std::vector<int> layers;
  for (int v = 0; v < job.virtual_stages; ++v)
    layers.push_back(job.stage_layers[static_cast<std::size_t>(v * job.dims.pp + stage)]);
  return layers;
}

/// Stages that can differ: the ends, and of those between the first of each number of layers, which
/// keeps the most micro-batches in flight.
std::vector<int> distinct_stages(const engine::Job& job) {
  const int last = job.dims.pp - 1;
  std::vector<int> stages;
  std::set<std::vector<int>> seen;
  for (int stage = 0; stage <= last; ++stage) {
    const bool end = stage == 0 || stage == last;
    const bool fresh = !end && seen.insert(chunks_of(job, stage)).second;
    if (end || fresh) stages.push_back(stage);
  }
  return stages;
}

/// A step of many micro-batches without running each: once all that a stage keeps is in flight,
/// memory stays as it is and every further micro-batch (of an interleaved schedule, every further
/// group of them) sends the same again.
engine::Footprint footprint_of(const engine::Job& job, const layout::Coordinates& at) {
  const int group = job.virtual_stages > 1 ? job.dims.pp : 1;
  const int full = job.virtual_stages > 1 ? 2 * job.dims.pp : job.dims.pp + 1;
  if (job.micro_batches <= full + group) return engine::meta_run(job, at);
  engine::Job shorter = job;
  shorter.micro_batches = full;
  const auto base = engine::meta_run(shorter, at);
  shorter.micro_batches = full + group;
  auto footprint = engine::meta_run(shorter, at);
  const Index more = (job.micro_batches - full) / group - 1;
  for (auto& [key, traffic] : footprint.traffic) {
    const auto before = base.traffic.find(key);
    expect(before != base.traffic.end(), "micro-batches are alike");
    traffic.sent += more * (traffic.sent - before->second.sent);
    traffic.messages += more * (traffic.messages - before->second.messages);
  }
  footprint.flops += more * (footprint.flops - base.flops);
  return footprint;
}

EngineBytes bytes_of(const engine::MemoryPlan& m) {
  EngineBytes bytes;
  bytes.parameters = m.parameters;
  bytes.gradients = m.gradients;
  bytes.optimizer = m.optimizer;
  for (const Bytes saved : m.saved) bytes.activations += saved;
  bytes.buffers = m.scratch + m.rebuilt + m.gathered + m.inputs + m.control;
  bytes.snapshot = m.snapshot;
  bytes.total = m.total();
  return bytes;
}

const char* part_name(engine::Position::Part part) {
  constexpr const char* names[] = {"forward", "loss", "backward", "update"};
  return names[static_cast<int>(part)];
}

EngineMemory memory_of(const engine::Footprint& footprint, int rank) {
  using Part = engine::Position::Part;
  EngineMemory memory{bytes_of(footprint.memory)};
  memory.heaviest_rank = rank;
  memory.remote = footprint.memory.remote;
  memory.peak = bytes_of(footprint.peak.held);
  const auto& [part, layer, micro_batch] = footprint.peak.at;
  memory.peak_action = part_name(part);
  if (part != Part::update) memory.peak_micro_batch = micro_batch;
  const bool in_layer = part == Part::forward || part == Part::backward;
  if (in_layer && layer != engine::Position::embedding) memory.peak_layer = layer;
  return memory;
}

}  // namespace

void measure_engine(Plan& plan) {
  const auto job = make_job(plan);
  if (!job) {
    plan.no_engine = job.error().message;
    return;
  }
  const auto of_rank = [&](const layout::Coordinates& at) { return footprint_of(*job, at); };
  plan.engine_communication = communication_of(*job, of_rank);
  const layout::Ranks ranks(job->dims, job->order);
  for (const int stage : distinct_stages(*job)) {
    layout::Coordinates at;
    at[Dim::pp] = stage;
    const auto footprint = of_rank(at);
    if (!plan.engine_memory || footprint.memory.total() > plan.engine_memory->total)
      plan.engine_memory = memory_of(footprint, ranks.rank(at));
  }
}

}  // namespace cpplan::plan
