// The plan of a step against volumes worked by hand (Korthikanti et al., arXiv 2205.05198, for TP
// and SP; ring attention, arXiv 2310.01889, for CP).
#include "engine/meta_run.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace cpplan::engine {
namespace {
using layout::ParallelDims;

constexpr Index b = 4;  // bytes of fp32
constexpr Index layers = 4, h = 64, heads = 8, kv_heads = 4, d = 8, f = 96, vocab = 256;
constexpr Index rows = 128;  // of a CP rank; whole arena slots for every tensor

Job job_of(ParallelDims dims, int micro_batches) {
  Job job;
  job.model = {.name = "small",
               .hidden_size = h,
               .num_hidden_layers = layers,
               .num_attention_heads = heads,
               .num_key_value_heads = kv_heads,
               .head_dim = d,
               .intermediate_size = f,
               .vocab_size = vocab};
  job.dims = dims;
  job.stage_layers.assign(static_cast<std::size_t>(dims.pp), static_cast<int>(layers) / dims.pp);
  job.micro_batches = micro_batches;
  job.capacity = rows;
  return job;
}

Index sent(const Footprint& plan, const char* group, const char* collective) {
  const auto found = plan.traffic.find({group, collective});
  return found == plan.traffic.end() ? 0 : found->second.sent.count;
}

}  // namespace

TEST_CASE("meta run: one rank sends nothing") {
  CHECK(meta_run(job_of({1, 1, 1, 1}, 2), {}).traffic.empty());
}

TEST_CASE("meta run: TP without SP sends four all-reduces a layer and two at the ends") {
  const Index t = 4, m = 3;
  const auto plan = meta_run(job_of({4, 1, 1, 1, false}, m), {});
  const Index activation = 2 * (t - 1) * (rows * h * b) / t;     // one all-reduce
  const Index cross_entropy = 2 * (t - 1) * (rows * 3 * b) / t;  // max, then (sum, logit)
  CHECK(sent(plan, "tp", "all_reduce") == m * ((4 * layers + 2) * activation + cross_entropy));
  CHECK(sent(plan, "tp", "all_gather") == 0);
}

TEST_CASE("meta run: SP moves the same bytes forward and gathers inputs again backward") {
  const Index t = 4, m = 3;
  const auto plan = meta_run(job_of({4, 1, 1, 1, true}, m), {});
  const Index shard = (t - 1) * (rows * h * b) / t;  // one all-gather or reduce-scatter
  // Forward, a layer gathers twice, backward twice for gradients and twice for inputs; the head
  // gathers its input, the embedding its gradient.
  CHECK(sent(plan, "tp", "all_gather") == m * (6 * layers + 2) * shard);
  // Forward and backward a layer scatters twice; the embedding once, the head once.
  CHECK(sent(plan, "tp", "reduce_scatter") == m * (4 * layers + 2) * shard);
  const Index norms = 2 * (t - 1) * ((2 * layers + 1) * h * b) / t;  // norm gradients, once a step
  const Index cross_entropy = m * 2 * (t - 1) * (rows * 3 * b) / t;
  CHECK(sent(plan, "tp", "all_reduce") == norms + cross_entropy);
}

TEST_CASE("meta run: the ring sends KV twice and its gradient home") {
  const Index c = 3, m = 2;
  const auto plan = meta_run(job_of({1, 3, 1, 1}, m), {});
  const Index kv = rows * 2 * kv_heads * d * b;
  CHECK(sent(plan, "cp", "exchange") == m * layers * (2 * (c - 1) * kv + c * kv));
  CHECK(plan.traffic.at({"cp", "exchange"}).messages == m * layers * (2 * (c - 1) + c));
}

TEST_CASE("meta run: a stage passes one activation forward and one gradient back a micro-batch") {
  const Index m = 5;
  layout::Coordinates middle;
  middle[layout::Dim::pp] = 1;
  CHECK(sent(meta_run(job_of({1, 1, 4, 1}, m), middle), "pp", "exchange") == m * 2 * rows * h * b);
  CHECK(sent(meta_run(job_of({2, 1, 4, 1, true}, m), middle), "pp", "exchange") ==
        m * rows * h * b);
}

TEST_CASE("meta run: gradients are reduced over DP x CP once") {
  const Job job = job_of({1, 2, 1, 2}, 2);
  const Index parameters = model::parameter_count(job.model);
  CHECK(sent(meta_run(job, {}), "dp_cp", "all_reduce") == 2 * 3 * parameters * b / 4);
}

TEST_CASE("meta run: SP divides what a layer saves by TP") {
  const Index t = 2;
  const auto saved = [](const Job& job) { return meta_run(job, {}).memory.saved.at(0).count; };
  const Index residual = 4 * h, split = 2 * (heads + kv_heads) * d + 3 * f;  // elements a token
  const Index statistics = 2, lse = heads;  // of norms; of attention
  CHECK(saved(job_of({1, 1, 1, 1}, 1)) ==
        b * rows * (layers * (residual + split + statistics + lse) + h));
  const Index whole = b * rows * (layers * (residual + split / t + statistics + lse / t) + h);
  const Index shared = b * rows * (layers * ((residual + split + statistics + lse) / t) + h / t);
  CHECK(saved(job_of({2, 1, 1, 1, false}, 1)) == whole);
  CHECK(saved(job_of({2, 1, 1, 1, true}, 1)) == shared);
}

TEST_CASE("meta run: full recomputation saves the input of each layer and computes a third more") {
  const Job kept = job_of({1, 1, 1, 1}, 1);
  Job again = kept;
  again.recompute = Recompute::full;
  const auto plan = meta_run(again, {});
  CHECK(plan.memory.saved.at(0).count == b * rows * (layers + 1) * h);
  const Index layer_weights = 2 * (heads + kv_heads) * d * h + 3 * f * h;
  const Index pairs = rows * (rows + 1) / 2;
  const Index forward = layers * (2 * layer_weights * rows + 4 * pairs * heads * d);
  const Index more = plan.flops.count - meta_run(kept, {}).flops.count;
  CHECK(more > forward);  // norms, softmax and SwiGLU come on top
  CHECK(more < forward * 115 / 100);
}

TEST_CASE("meta run: selective recomputation saves neither norms nor the product of SwiGLU") {
  const auto saved = [](const Job& job) { return meta_run(job, {}).memory.saved.at(0).count; };
  const Job kept = job_of({1, 1, 1, 1}, 1);
  Job again = kept;
  again.recompute = Recompute::selective;
  CHECK(saved(kept) - saved(again) == b * rows * layers * (2 * h + f));
}

TEST_CASE("meta run: CP divides what lies along the sequence and rows of other ranks come on top") {
  const Index c = 2;
  Job whole = job_of({1, 1, 1, 1}, 1);
  whole.capacity = c * rows;
  const MemoryPlan one = meta_run(whole, {}).memory;
  CHECK(one.remote.count == 0);
  const Index kv = rows * 2 * kv_heads * d * b, q = rows * heads * d * b;
  const std::pair<CpCommType, Index> remote[] = {{CpCommType::p2p, 4 * kv},  // KV and its gradient
                                                 {CpCommType::all_gather, 2 * c * kv},
                                                 {CpCommType::a2a, 2 * (q + kv)}};  // dq, dk, dv
  for (const auto& [type, bytes] : remote) {
    CAPTURE(static_cast<int>(type));
    Job job = job_of({1, c, 1, 1}, 1);
    job.context_parallel.layer_types = {type};
    const MemoryPlan two = meta_run(job, {}).memory;
    CHECK(two.remote.count == bytes);
    // Under all-to-all out and all gradients are there twice: of its tokens and of its heads.
    const bool twice = type == CpCommType::a2a;
    const Index saved_twice = twice ? layers * q : 0, scratch_twice = twice ? 2 * q + kv : 0;
    CHECK(c * (two.saved.at(0).count - saved_twice) == one.saved.at(0).count);
    CHECK(c * two.inputs.count == one.inputs.count);
    CHECK(c * ((two.scratch - two.remote).count - scratch_twice) <= one.scratch.count);
    CHECK(c * two.scratch.count >= one.scratch.count);
  }
}

TEST_CASE("meta run: matmul FLOPs of a step are six a parameter and token") {
  const Job job = job_of({1, 1, 1, 1}, 2);
  const Index linear = model::parameter_count(job.model) - (2 * layers + 1) * h - vocab * h;
  const Index tokens = 2 * rows;
  const Index pairs = 2 * rows * (rows + 1) / 2;
  const Index attention = layers * (4 + 10) * pairs * heads * d;
  const auto flops = meta_run(job, {}).flops.count;
  const Index matmul = 6 * linear * tokens + attention;
  CHECK(flops > matmul);  // norms, activation, softmax and optimizer come on top
  CHECK(flops < matmul * 115 / 100);
}

TEST_CASE("meta run: the peak has a moment, a place in the model and a micro-batch") {
  using Part = Position::Part;
  const auto two_stages = meta_run(job_of({1, 1, 2, 1}, 4), {});
  // Two micro-batches are in flight when the first goes backward, through the top layer first.
  CHECK(two_stages.peak.at.part == Part::backward);
  CHECK(two_stages.peak.at.micro_batch == 0);
  CHECK(two_stages.peak.at.layer == layers / 2 - 1);
  const Bytes held = two_stages.peak.held.total();
  CHECK(held > two_stages.memory.parameters);
  CHECK(held <= two_stages.memory.total());

  auto wordy = job_of({1, 1, 1, 1}, 1);
  wordy.model.vocab_size = 100'000;
  wordy.recompute = Recompute::full;
  CHECK(meta_run(wordy, {}).peak.at.part == Part::loss);  // logits outweigh a layer
}

}  // namespace cpplan::engine
