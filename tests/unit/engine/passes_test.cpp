// What a step sends and computes forward and backward, told apart by the trace of one micro-batch:
// sequence parallelism against plain TP (Korthikanti et al., arXiv 2205.05198 §4.2) and
// recomputation.
#include <doctest/doctest.h>

#include "engine/meta_run.hpp"

namespace cpplan::engine {
namespace {
using Kind = TraceEvent::Kind;

constexpr Index b = 4;  // bytes of fp32
constexpr Index layers = 4, h = 64, rows = 128;

Job job_of(layout::ParallelDims dims) {
  Job job;
  job.model = {.name = "small",
               .hidden_size = h,
               .num_hidden_layers = layers,
               .num_attention_heads = 8,
               .num_key_value_heads = 4,
               .head_dim = 8,
               .intermediate_size = 96,
               .vocab_size = 256};
  job.dims = dims;
  job.stage_layers = {layers};
  job.capacity = rows;
  return job;
}

/// Bytes of activations and of their gradients that the TP group moves in each pass, and after
/// them.
struct Passes {
  Index forward = 0, backward = 0, after = 0;
};

/// Forward ends where the logits are there; statistics of the loss are left out. The passes end
/// where the squares of the gradients are summed, before which norm gradients are.
Passes passes_of(const StepTrace& trace) {
  std::size_t logits = 0;
  while (trace[logits].op != "row_max") ++logits;
  std::size_t last_activation = 0;
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (trace[i].op == "embed_backward") last_activation = i;
  const Index statistics = rows * 3 * b;
  Passes passes;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceEvent& event = trace[i];
    if (event.kind != Kind::start || event.group != "tp") continue;
    Index& pass = i < logits            ? passes.forward
                  : i < last_activation ? passes.backward
                                        : passes.after;
    pass += event.sent.count;
  }
  passes.backward -= 2 * statistics * 3 / 4;  // of four ranks
  return passes;
}

Passes passes_of(bool sequence_parallel) {
  const Job job = job_of({4, 1, 1, 1, sequence_parallel});
  return passes_of(trace_step(job, {}, dense_documents(job)));
}

}  // namespace

TEST_CASE("passes: SP sends what plain TP sends forward and gathers inputs once more backward") {
  const Passes plain = passes_of(false), shared = passes_of(true);
  const Index t = 4, gather = (t - 1) * rows * h * b / t;
  CHECK(plain.forward == (4 * layers + 2) * gather);  // an all-reduce is two of these
  CHECK(shared.forward == plain.forward);
  CHECK(plain.backward == (4 * layers + 2) * gather);
  CHECK(shared.backward == plain.backward + 2 * layers * gather);
  CHECK(plain.after == 0);
  CHECK(shared.after == 2 * (t - 1) * (2 * layers + 1) * h * b / t);  // norm gradients
}

TEST_CASE("passes: full recomputation makes four thirds of the matmuls of layers") {
  const auto gemm_flops = [](Recompute recompute) {
    Job job = job_of({1, 1, 1, 1});
    job.recompute = recompute;
    return trace_step(job, {}, dense_documents(job)).flops("gemm").count;
  };
  const Index head = 3 * 2 * rows * h * 256;
  const Index kept = gemm_flops(Recompute::none) - head;
  CHECK(3 * (gemm_flops(Recompute::full) - head) == 4 * kept);
  CHECK(gemm_flops(Recompute::selective) - head == kept);
}

TEST_CASE("passes: full recomputation attends forward twice") {
  const auto flops = [](Recompute recompute, std::string_view op) {
    Job job = job_of({1, 1, 1, 1});
    job.recompute = recompute;
    return trace_step(job, {}, dense_documents(job)).flops(op).count;
  };
  CHECK(flops(Recompute::full, "attention") == 2 * flops(Recompute::none, "attention"));
  CHECK(flops(Recompute::full, "attention_backward") ==
        flops(Recompute::none, "attention_backward"));
}

}  // namespace cpplan::engine
