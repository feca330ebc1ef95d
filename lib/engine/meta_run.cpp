#include "engine/meta_run.hpp"

#include "engine/groups.hpp"
#include "kernels/meta/meta_ops.hpp"

namespace cpplan::engine {
namespace {
using layout::Dim;

/// Adds up what one step does; what comes before the first step (initial weights) is not counted.
class SumTrace final : public kernels::Trace {
 public:
  /// Every tensor is made for an op or a transfer, which is when we look.
  void compute(std::string_view, const kernels::Cost& cost) override {
    if (rank == nullptr) return;
    sum.flops += cost.flops;
    look();
  }
  void start(const kernels::TransferStart& transfer) override {
    if (rank == nullptr || transfer.size == 1) return;
    Traffic& traffic = sum.traffic[{std::string(transfer.group), std::string(transfer.collective)}];
    traffic.sent += transfer.sent;
    traffic.messages += transfer.messages;
    look();
  }
  void wait(std::string_view, int) override {}

  const Trainer* rank = nullptr;  // from its first step on
  Footprint sum;

 private:
  void look() {
    const Bytes held = rank->held_in_all();
    if (held <= most_) return;
    most_ = held;
    sum.peak = {rank->position(), rank->held()};
  }

  Bytes most_;
};

/// More than any rank will ever hold: addresses alone, no memory.
constexpr Bytes endless{Index{1} << 46};

MemoryPlan endless_memory(int in_flight_micro_batches) {
  MemoryPlan plan{endless, endless, endless, endless, endless, endless, endless, endless, {}};
  plan.saved.assign(static_cast<std::size_t>(in_flight_micro_batches), endless);
  return plan;
}

/// One step under `trace`; `begin` is told of the rank when its initial weights are drawn.
template <class Begin>
MemoryPlan run_step(const Job& job, layout::Coordinates at, const Documents& documents,
                    kernels::Trace& trace, const Begin& begin) {
  const auto ops = kernels::make_meta_ops(trace);
  const layout::Ranks ranks(job.dims, job.order);
  const auto set = comm::make_meta_groups(ranks, ranks.rank(at), trace, group_settings(job));
  const Groups groups = groups_of(set);
  const auto actions = schedule_of(at[Dim::pp], job.dims.pp, job.virtual_stages, job.micro_batches);
  Trainer trainer(*ops, groups, job, at, endless_memory(in_flight(actions)));
  begin(trainer);
  trainer.step(1, 0.0, [&](int) { return MicroBatch{.documents = documents}; });
  return trainer.peak();
}

}  // namespace

Documents dense_documents(const Job& job) {
  const Index multiple = layout::SequenceMap::multiple(job.context_parallel.split, job.dims.cp);
  const Index tokens = job.capacity * job.dims.cp / job.micro_batch_size / multiple * multiple;
  Documents documents;
  for (int sample = 0; sample < job.micro_batch_size; ++sample) {
    documents.push_back({tokens, sample});
  }
  return documents;
}

Footprint meta_run(const Job& job, layout::Coordinates at) {
  return meta_run(job, at, dense_documents(job));
}

Footprint meta_run(const Job& job, layout::Coordinates at, const Documents& documents) {
  SumTrace trace;
  trace.sum.memory =
      run_step(job, at, documents, trace, [&](const Trainer& rank) { trace.rank = &rank; });
  return trace.sum;
}

StepTrace trace_step(const Job& job, layout::Coordinates at, const Documents& documents) {
  StepTrace trace;
  run_step(job, at, documents, trace, [&](const Trainer&) { trace.clear(); });
  return trace;
}

}  // namespace cpplan::engine
