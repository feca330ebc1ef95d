// Volumes and memory of sharded training against what ZeRO (arXiv 1910.02054 §7) and FSDP (arXiv
// 2304.11277) say, worked by hand for units that are padded to equal shards.
#include <doctest/doctest.h>

#include "engine/meta_run.hpp"

namespace cpplan::engine {
namespace {
using layout::ParallelDims;

constexpr Index b = 4;  // bytes of fp32
constexpr Index layers = 4, h = 64, kv = 32, f = 96, vocab = 256;
constexpr Index layer_elements = 2 * h + 2 * h * h + 2 * kv * h + 3 * f * h;

Job job_of(ParallelDims dims, int micro_batches, DataParallelSettings settings) {
  Job job;
  job.model = {.name = "small",
               .hidden_size = h,
               .num_hidden_layers = layers,
               .num_attention_heads = 8,
               .num_key_value_heads = 4,
               .head_dim = 8,
               .intermediate_size = f,
               .vocab_size = vocab};
  job.dims = dims;
  job.stage_layers.assign(static_cast<std::size_t>(dims.pp), static_cast<int>(layers) / dims.pp);
  job.micro_batches = micro_batches;
  job.capacity = 128;
  job.data_parallel = settings;
  return job;
}

Index sent(const Footprint& plan, const char* group, const char* collective) {
  const auto found = plan.traffic.find({group, collective});
  return found == plan.traffic.end() ? 0 : found->second.sent.count;
}

/// Elements of a unit that one of `n` ranks keeps.
Index shard(Index elements, Index n) {
  return round_up(ceil_div(elements, n), 64);
}

Index whole_model(Index n) {
  return 2 * shard(vocab * h, n) + layers * shard(layer_elements, n) + shard(h, n);
}

}  // namespace

TEST_CASE("sharded optimizer: one reduce-scatter of gradients and one all-gather of parameters") {
  const Index n = 4;
  for (const int micro_batches : {1, 3}) {
    const Job job = job_of({1, 2, 1, 2}, micro_batches, {.sharding = Sharding::optimizer});
    const auto plan = meta_run(job, {});
    CHECK(sent(plan, "dp_shard_cp", "reduce_scatter") == (n - 1) * whole_model(n) * b);
    CHECK(sent(plan, "dp_shard_cp", "all_gather") == (n - 1) * whole_model(n) * b);
    CHECK(sent(plan, "dp_cp", "all_reduce") == 0);
    CHECK(plan.memory.optimizer.count == 2 * whole_model(n) * b);
    CHECK(plan.memory.parameters.count == n * whole_model(n) * b);
    CHECK(plan.memory.gathered.count == 0);
  }
}

TEST_CASE("sharded parameters: layers are gathered for each pass unless they are still there") {
  const Index n = 4, m = 3;
  const auto plan = meta_run(job_of({1, 2, 1, 2}, m, {.sharding = Sharding::parameters}), {});
  // Backward begins with the two layers that forward ended with, and the next forward with the two
  // that backward ended with. Embedding and output take turns; the last norm stays.
  const Index gathers_of_layers = 2 * layers * m - 2 * (2 * m - 1);
  CHECK(sent(plan, "dp_shard_cp", "all_gather") ==
        (n - 1) * b *
            (gathers_of_layers * shard(layer_elements, n) + 2 * m * shard(vocab * h, n) +
             shard(h, n)));
  CHECK(sent(plan, "dp_shard_cp", "reduce_scatter") == m * (n - 1) * whole_model(n) * b);
  CHECK(plan.memory.parameters.count == whole_model(n) * b);
  CHECK(plan.memory.gradients.count == whole_model(n) * b);
  CHECK(plan.memory.optimizer.count == 2 * whole_model(n) * b);
  const Index lanes = n * (shard(vocab * h, n) + 2 * shard(layer_elements, n) + shard(h, n));
  CHECK(plan.memory.gathered.count == 2 * lanes * b);
}

TEST_CASE("sharded parameters: kept after forward they are gathered once a step") {
  const Index n = 4;
  const DataParallelSettings kept{.sharding = Sharding::parameters, .reshard_after_forward = false};
  for (const int micro_batches : {1, 3}) {
    const auto plan = meta_run(job_of({1, 2, 1, 2}, micro_batches, kept), {});
    CHECK(sent(plan, "dp_shard_cp", "all_gather") == (n - 1) * whole_model(n) * b);
  }
}

TEST_CASE("hybrid sharding: a shard is summed over its copies once a step") {
  const Index shards = 2, copies = 4;
  const DataParallelSettings hybrid{.sharding = Sharding::parameters, .replicate = copies};
  const auto plan = meta_run(job_of({1, 1, 1, 8}, 3, hybrid), {});
  CHECK(sent(plan, "dp_replicate", "all_reduce") ==
        2 * (copies - 1) * whole_model(shards) * b / copies);
  CHECK(plan.memory.parameters.count == whole_model(shards) * b);
}

TEST_CASE("gradient overlap: the same bytes in the same memory") {
  for (const Sharding sharding : {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
    const Job waits = job_of({2, 2, 1, 2, true}, 3, {.sharding = sharding});
    Job overlaps = waits;
    overlaps.data_parallel.overlap_gradients = overlaps.data_parallel.overlap_parameters = true;
    const auto expected = meta_run(waits, {}), plan = meta_run(overlaps, {});
    CHECK(plan.memory == expected.memory);
    for (const auto& [key, traffic] : expected.traffic) {
      CAPTURE(key);
      CHECK(plan.traffic.at(key).sent == traffic.sent);
      CHECK(plan.traffic.at(key).messages == traffic.messages);
    }
  }
}

TEST_CASE("gradient overlap: reductions start while the layers below compute") {
  // Of the reductions of a step, those that start before the embedding has gone backward.
  const auto early = [](bool overlaps) {
    const Job job = job_of({1, 2, 1, 2}, 2, {.overlap_gradients = overlaps});
    const StepTrace trace = trace_step(job, {}, dense_documents(job));
    Index before_the_end = 0, started = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) {
      if (trace[i].kind == TraceEvent::Kind::start && trace[i].group == "dp_cp") ++started;
      if (trace[i].op == "embed_backward") before_the_end = started;
    }
    CHECK(started == layers + 3);  // embedding, last norm, output
    return before_the_end;
  };
  CHECK(early(false) == 0);
  CHECK(early(true) == layers + 2);
}

TEST_CASE("sharded parameters: a layer is gathered while the one before it computes") {
  const Job job = job_of({1, 1, 1, 2}, 1, {.sharding = Sharding::parameters});
  const StepTrace trace = trace_step(job, {}, dense_documents(job));
  Index gathers = 0, waited_for_at_once = 0;
  for (std::size_t i = 0; i + 1 < trace.size(); ++i) {
    if (trace[i].kind != TraceEvent::Kind::start || trace[i].collective != "all_gather") continue;
    ++gathers;
    if (trace[i + 1].kind == TraceEvent::Kind::wait) ++waited_for_at_once;
  }
  CHECK(gathers == 2 * layers - 2 + 3);
  CHECK(waited_for_at_once == 1);  // the embedding
}

TEST_CASE("tied embeddings: the table's gradient is summed over the first and the last stage") {
  Job job = job_of({1, 1, 4, 1}, 2, {});
  job.model.tie_word_embeddings = true;
  const Index table = vocab * h * b;
  layout::Coordinates at;
  for (const int stage : {0, 3}) {
    at[layout::Dim::pp] = stage;
    CHECK(sent(meta_run(job, at), "embedding", "all_reduce") == table);
  }
  at[layout::Dim::pp] = 1;
  CHECK(sent(meta_run(job, at), "embedding", "all_reduce") == 0);
  job.dims.pp = 1, job.stage_layers = {layers};
  CHECK(sent(meta_run(job, {}), "embedding", "all_reduce") == 0);
}

TEST_CASE("shared KV heads: gradients of keys and values are summed over the ranks of a head") {
  Job job = job_of({4, 1, 1, 1, true}, 2, {});
  job.model.num_key_value_heads = 2;
  const Index one_head = job.model.head_dim * h * b;
  CHECK(sent(meta_run(job, {}), "tp_kv", "all_reduce") == layers * 2 * one_head);
  job.model.num_key_value_heads = 4;
  CHECK(sent(meta_run(job, {}), "tp_kv", "all_reduce") == 0);
}

}  // namespace cpplan::engine
