#include "engine/step_trace.hpp"

#include <doctest/doctest.h>

#include "engine/meta_run.hpp"

namespace cpplan::engine {
namespace {

Job job_of(layout::ParallelDims dims, int micro_batches) {
  Job job;
  job.model = {.name = "small",
               .hidden_size = 64,
               .num_hidden_layers = 4,
               .num_attention_heads = 8,
               .num_key_value_heads = 4,
               .head_dim = 8,
               .intermediate_size = 96,
               .vocab_size = 256};
  job.dims = dims;
  job.stage_layers.assign(static_cast<std::size_t>(dims.pp), 4 / dims.pp);
  job.micro_batches = micro_batches;
  job.capacity = 128;
  return job;
}

/// Every transfer is waited for once; counted by communicator.
std::vector<int> transfers_of(const StepTrace& trace) {
  std::vector<const TraceEvent*> started;
  std::vector<int> by_communicator(10), waits_left;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceEvent& event = trace[i];
    if (event.kind == TraceEvent::Kind::start) {
      started.push_back(&event);
      waits_left.push_back(1);
      ++by_communicator[static_cast<std::size_t>(event.communicator)];
    } else if (event.kind == TraceEvent::Kind::wait) {
      const auto at = started.size() - 1 - static_cast<std::size_t>(event.starts_ago);
      CHECK(started[at]->group == event.group);
      --waits_left[at];
    }
  }
  for (const int left : waits_left) CHECK(left == 0);
  return by_communicator;
}

}  // namespace

TEST_CASE("step trace: its FLOPs are those of the meta run") {
  const Job job = job_of({2, 2, 2, 1, true}, 3);
  layout::Coordinates last;
  last[layout::Dim::pp] = 1;
  for (const auto& at : {layout::Coordinates{}, last}) {
    const auto trace = trace_step(job, at, dense_documents(job));
    CHECK(trace.flops() == meta_run(job, at).flops);
    CHECK(trace.flops("gemm") > trace.flops("attention"));
    CHECK(trace.flops("attention_backward").count * 2 == trace.flops("attention").count * 5);
  }
}

TEST_CASE("step trace: activations and gradients between stages are told apart") {
  const int m = 3;
  layout::Coordinates middle;
  middle[layout::Dim::pp] = 1;
  const Job job = job_of({1, 1, 4, 1}, m);
  const auto transfers = transfers_of(trace_step(job, middle, dense_documents(job)));
  CHECK(transfers[2] == 2 * m);  // pp_forward: one in, one out
  CHECK(transfers[3] == 2 * m);
}

TEST_CASE("step trace: what repeats is kept once") {
  const Job few = job_of({2, 3, 1, 1, true}, 2), many = job_of({2, 3, 1, 1, true}, 20);
  const auto a = trace_step(few, {}, dense_documents(few));
  const auto b = trace_step(many, {}, dense_documents(many));
  CHECK(b.size() > 7 * a.size());
  CHECK(b.distinct().size() == a.distinct().size());
}

}  // namespace cpplan::engine
