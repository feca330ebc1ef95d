#include "engine/closed_volumes.hpp"

#include <algorithm>
#include <numeric>

#include "engine/closed_stage.hpp"

namespace cpplan::test {
namespace {
using engine::CpCommType;

/// Of a layer, forward: in at attention and MLP and out again; backward the same and, under SP, the
/// inputs once more. The embedding leaves the split region, the head enters it.
void add_tensor_parallel(const ClosedStage& s, Sum& v) {
  const Index groups = s.cp * s.dp, ring = groups * (s.tp - 1), layers = std::ssize(s.layers);
  const Index activation = ring * s.micro_batches * s.rows * s.job.model.hidden_size * s.element;
  const Index ends = s.first + s.last;
  if (s.job.dims.sequence_parallel) {
    v.add("tp", "all_gather", activation * (layers * (2 * s.forwards + 4) + ends));
    v.add("tp", "reduce_scatter", activation * (layers * (2 * s.forwards + 2) + ends));
    const Index norms = (2 * layers + s.last) * s.job.model.hidden_size;
    v.add("tp", "all_reduce", 2 * (s.tp - 1) * (s.sharded ? s.copies : groups) * norms * s.sum);
  } else {
    v.add("tp", "all_reduce", 2 * activation * (layers * (2 * s.forwards + 2) + ends));
  }
  if (s.last)  // greatest logit, sum and label's logit
    v.add("tp", "all_reduce", 2 * ring * s.micro_batches * s.rows * 3 * s.sum);
}

/// Heads for tokens among `n` ranks, then a ring of what they make up together.
void add_exchange_and_ring(const ClosedStage& s, Index n, const char* inner, const char* outer,
                           Sum& v) {
  const Index d = s.job.model.head_dim, ring = s.cp / n;
  const Index heads = s.job.model.num_attention_heads / s.tp / n;
  const Index kv_heads = std::max<Index>(1, s.job.model.num_key_value_heads / s.tp / n);
  const Index times = s.tp * s.cp * s.dp * s.micro_batches;  // ranks and micro-batches
  const Index q = heads * d, kv = 2 * kv_heads * d;
  const Index forward = (2 * q + kv) * s.element;               // q, k, v, out
  const Index backward = q * s.element + (q + kv) * s.travels;  // dout, dq, dk, dv
  v.add(inner, "exchange", times * s.rows * (n - 1) * (s.forwards * forward + backward));
  const Index held = n * s.rows * kv;
  v.add(outer, "exchange", times * held * (ring - 1) * (s.forwards + 1) * s.element);
  if (ring > 1) v.add(outer, "exchange", times * held * ring * s.travels);  // gradients, home
}

void add_gather(const ClosedStage& s, Sum& v) {
  const Index kv_heads = s.job.model.num_key_value_heads / s.tp;
  const Index whole = s.cp * s.rows * 2 * kv_heads * s.job.model.head_dim;
  const Index times = s.tp * s.dp * s.micro_batches * (s.cp - 1);
  v.add("cp", "all_gather", times * whole * (s.forwards + 1) * s.element);
  v.add("cp", "reduce_scatter", times * whole * s.travels);
}

void add_context_parallel(const ClosedStage& s, Sum& v) {
  for (const Index layer : s.layers) {
    switch (s.job.context_parallel.type_of(layer)) {
      case CpCommType::p2p:
        add_exchange_and_ring(s, 1, "", "cp", v);
        break;
      case CpCommType::all_gather:
        add_gather(s, v);
        break;
      case CpCommType::a2a:
        add_exchange_and_ring(s, s.cp, "cp", "", v);
        break;
      case CpCommType::a2a_p2p:
        add_exchange_and_ring(s, s.job.context_parallel.inner_size, "cp_inner", "cp_outer", v);
    }
  }
}

void add_pipeline(const ClosedStage& s, Sum& v) {
  const Index ranks = s.tp * s.cp * s.dp;
  const Index rows = s.job.dims.sequence_parallel ? s.rows / s.tp : s.rows;
  const Index messages = 2 * s.chunks - s.first - s.last;  // an output on, a gradient back
  v.add("pp", "exchange",
        ranks * s.micro_batches * messages * rows * s.job.model.hidden_size * s.element);
}

}  // namespace

std::vector<Index> layers_of(const engine::Job& job, int virtual_stage) {
  const auto begin = job.stage_layers.begin();
  std::vector<Index> layers(static_cast<std::size_t>(job.stage_layers[virtual_stage]));
  std::iota(layers.begin(), layers.end(), std::accumulate(begin, begin + virtual_stage, Index{0}));
  return layers;
}

ClosedStage stage_of(const engine::Job& job, int number) {
  ClosedStage stage{job, number};
  const int stages = job.dims.pp;
  for (int v = number; v < stages * job.virtual_stages; v += stages, ++stage.chunks) {
    const auto layers = layers_of(job, v);
    stage.layers.insert(stage.layers.end(), layers.begin(), layers.end());
  }
  stage.first = number == 0, stage.last = number + 1 == stages;
  return stage;
}

Volumes closed_volumes(const engine::Job& job, int stage) {
  const ClosedStage s = stage_of(job, stage);
  Sum sum;
  add_tensor_parallel(s, sum);
  add_context_parallel(s, sum);
  add_pipeline(s, sum);
  add_parameters(s, sum);
  return sum.volumes;
}

Index closed_control_volume(const engine::Job& job) {
  const Index tensors = 9 * job.model.num_hidden_layers + (job.model.tie_word_embeddings ? 2 : 3);
  const Index slots =
      tensors * job.dims.tp * stage_of(job, 0).shards + 2 * job.dims.weight_replicas();
  return 2 * (job.dims.world() - 1) * slots * kernels::size_of(kernels::DType::f64);
}

}  // namespace cpplan::test
