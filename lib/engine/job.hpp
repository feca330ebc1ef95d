#pragma once
// What one run of the engine is, apart from its data: a plain value, the same on every rank.
#include <vector>

#include "kernels/tensor.hpp"
#include "layout/ranks.hpp"
#include "layout/sequence_map.hpp"
#include "model/model_spec.hpp"

namespace cpplan::engine {

struct AdamWSettings {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
  double max_grad_norm = 0;  // 0: no clipping
};

/// How attention reaches the keys of other CP ranks: a ring of keys and values (arXiv 2310.01889),
/// one gather of them (Llama 3, arXiv 2407.21783 §3.3.2), heads for tokens (Ulysses, arXiv
/// 2309.14509), or heads for tokens among neighbours and a ring of those groups.
enum class CpCommType : std::uint8_t { p2p, all_gather, a2a, a2a_p2p };

/// In which type gradients of attention travel between CP ranks: that of sums, or that of the
/// values they belong to, which in bf16 is half the bytes at one more rounding a hop.
enum class GradientTransport : std::uint8_t { sums, values };

struct ContextParallelSettings {
  layout::Split split = layout::Split::head_tail;
  std::vector<CpCommType> layer_types = {CpCommType::p2p};  // one for all layers, or one for each
  int inner_size = 1;  // neighbours that exchange heads under a2a_p2p; divides CP
  GradientTransport gradients = GradientTransport::sums;
  CpCommType type_of(Index layer) const {
    return layer_types[layer_types.size() == 1 ? 0 : static_cast<std::size_t>(layer)];
  }
};

/// What the ranks of DP x CP cut among them instead of keeping it whole on each. optimizer: the
/// optimizer's state (ZeRO stage 1, arXiv 1910.02054; Megatron's distributed optimizer).
/// parameters: weights and gradients, too, gathered layer by layer when they are needed (ZeRO stage
/// 3, PyTorch's FSDP, arXiv 2304.11277).
enum class Sharding : std::uint8_t { none, optimizer, parameters };

struct DataParallelSettings {
  Sharding sharding = Sharding::none;
  int replicate = 1;  // copies of what is cut, over the outer part of DP; divides DP
  bool reshard_after_forward = true;  // parameters: whole ones are given up before backward
  bool overlap_gradients = false;     // a layer's are reduced while the layers below compute theirs
  bool overlap_parameters = false;  // optimizer: gathered as layers need them, not by the optimizer
};

/// What backward computes again instead of keeping it. selective: norms and the product of SwiGLU,
/// which are cheap. full: the whole layer, from its input.
enum class Recompute : std::uint8_t { none, selective, full };

/// How the gradient of a weight joins the sum over micro-batches. separate: made in the type of the
/// activations (the embedding's, which is a sum over tokens, in that of sums) and then added, as
/// the frameworks do.
enum class WeightGradients : std::uint8_t { in_place, separate };

/// Whether a rank keeps room on the host for a copy of its state, which is written to disk while
/// training goes on.
enum class Snapshots : std::uint8_t { none, host };

struct Job {
  model::ModelSpec model;
  layout::ParallelDims dims;
  layout::Order order = layout::megatron_order;
  int virtual_stages = 1;         // model chunks of each pipeline stage; above 1: interleaved 1F1B
  std::vector<int> stage_layers;  // transformer layers of each virtual stage; sums to the model's
  Recompute recompute = Recompute::none;
  WeightGradients weight_gradients = WeightGradients::in_place;
  Snapshots snapshots = Snapshots::none;
  kernels::DType dtype = kernels::DType::f32;
  std::uint64_t seed = 0;
  ContextParallelSettings context_parallel;
  DataParallelSettings data_parallel;
  Index attention_window = 0;  // keys a query sees, itself included; 0: all before it
  int micro_batches = 1;       // of one step and one data-parallel rank: gradient accumulation
  int micro_batch_size = 1;    // samples of a micro-batch
  Index capacity = 0;          // rows of one CP rank and micro-batch, padding included
  AdamWSettings adamw;
};

/// Parts in which one copy of the optimizer's state lies on ranks; 1: each rank has all of it.
int state_shards(const Job&);

/// TP ranks that hold the same KV heads, where there are fewer of them than ranks.
int kv_copies(const model::ModelSpec&, const layout::ParallelDims&);

/// Rows of a rank must divide by this, so that chunks and sequence shards come out whole.
Index rows_multiple(const layout::ParallelDims&, layout::Split split = layout::Split::head_tail);

}  // namespace cpplan::engine
