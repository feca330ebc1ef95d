// Messages that are under way while a rank computes: of every transfer, what is computed between
// its start and its wait.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/meta_run.hpp"

namespace cpplan::engine {
namespace {
using Kind = TraceEvent::Kind;

constexpr int layers = 2;

Job job_of(int cp, GradientTransport gradients) {
  Job job;
  job.model = {.name = "small",
               .hidden_size = 64,
               .num_hidden_layers = layers,
               .num_attention_heads = 8,
               .num_key_value_heads = 4,
               .head_dim = 8,
               .intermediate_size = 96,
               .vocab_size = 256};
  job.dims.cp = cp;
  job.context_parallel.gradients = gradients;
  job.stage_layers = {layers};
  job.dtype = kernels::DType::bf16;
  job.capacity = 128;
  return job;
}

/// FLOPs of attention while each transfer of the CP group was under way.
std::vector<Index> overlapped(const StepTrace& trace) {
  struct Transfer {
    bool counts = false;
    bool arrived = false;
    Index flops = 0;
  };
  std::vector<Transfer> transfers;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceEvent& event = trace[i];
    if (event.kind == Kind::start) transfers.push_back({event.group == "cp"});
    if (event.kind == Kind::wait) transfers[transfers.size() - 1 - event.starts_ago].arrived = true;
    if (event.kind != Kind::compute || !event.op.starts_with("attention")) continue;
    for (Transfer& transfer : transfers)
      if (!transfer.arrived) transfer.flops += event.cost.flops.count;
  }
  std::vector<Index> flops;
  for (const Transfer& transfer : transfers)
    if (transfer.counts) flops.push_back(transfer.flops);
  return flops;
}

}  // namespace

TEST_CASE("overlap: every hop of a ring but the last is under way while a block is computed") {
  for (const GradientTransport gradients : {GradientTransport::sums, GradientTransport::values}) {
    for (const int cp : {2, 3, 5}) {
      const Job job = job_of(cp, gradients);
      const auto flops = overlapped(trace_step(job, {}, dense_documents(job)));
      REQUIRE(std::ssize(flops) == layers * (2 * (cp - 1) + cp));
      CHECK(std::count(flops.begin(), flops.end(), 0) == layers);  // gradients that come home
    }
  }
}

}  // namespace cpplan::engine
