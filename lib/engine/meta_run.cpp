#include "engine/meta_run.hpp"

#include "comm/meta.hpp"
#include "kernels/meta/meta_ops.hpp"

namespace cpplan::engine {
namespace {
using layout::Dim;

/// Adds up what one step does; what comes before the first step (initial weights) is not counted.
class SumTrace final : public kernels::Trace {
 public:
  void compute(std::string_view, const kernels::Cost& cost) override {
    if (counting) sum.flops += cost.flops;
  }
  void start(const kernels::TransferStart& transfer) override {
    if (!counting || transfer.size == 1) return;
    Traffic& traffic = sum.traffic[{std::string(transfer.group), std::string(transfer.collective)}];
    traffic.sent += transfer.sent;
    ++traffic.messages;
  }
  void wait(std::string_view, int) override {}

  bool counting = false;
  Footprint sum;
};

/// More than any rank will ever hold: addresses alone, no memory.
constexpr Bytes endless{Index{1} << 46};

MemoryPlan endless_memory(int in_flight_micro_batches) {
  MemoryPlan plan{endless, endless, endless, endless, endless, endless, {}};
  plan.saved.assign(static_cast<std::size_t>(in_flight_micro_batches), endless);
  return plan;
}

MicroBatch dense_micro_batch(const Job& job) {
  const Index multiple = layout::SequenceMap::multiple(layout::Split::head_tail, job.dims.cp);
  const Index tokens = job.capacity * job.dims.cp / job.micro_batch_size / multiple * multiple;
  MicroBatch micro;
  for (int sample = 0; sample < job.micro_batch_size; ++sample) {
    micro.documents.push_back({tokens, sample});
  }
  return micro;
}

}  // namespace

Footprint meta_run(const Job& job, layout::Coordinates at) {
  SumTrace trace;
  const auto ops = kernels::make_meta_ops(trace);
  const auto& d = job.dims;
  const layout::Ranks ranks(d, job.order);
  const auto group = [&](const char* name, int rank, int size) {
    return comm::make_meta_communicator(name, rank, size, trace);
  };
  const auto tp = group("tp", at[Dim::tp], d.tp), cp = group("cp", at[Dim::cp], d.cp);
  const auto forward = group("pp", at[Dim::pp], d.pp), backward = group("pp", at[Dim::pp], d.pp);
  const auto dp_cp = group("dp_cp", at[Dim::dp] * d.cp + at[Dim::cp], d.dp * d.cp);
  const auto world = group("world", ranks.rank(at), ranks.world());
  const Groups groups{*tp, *cp, *forward, *backward, *dp_cp, *world};

  const auto actions = one_forward_one_backward(at[Dim::pp], d.pp, job.micro_batches);
  Trainer trainer(*ops, groups, job, at, endless_memory(in_flight(actions)));
  trace.counting = true;
  trainer.step(1, 0.0, [&](int) { return dense_micro_batch(job); });
  trace.sum.memory = trainer.peak();
  return trace.sum;
}

}  // namespace cpplan::engine
