#pragma once
// What of a config decides the memory of its framework, in the framework's own terms: bytes an
// element, who shares what, what is kept for the backward pass. One reader a framework.
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace cpplan::plan {

/// Which of the weights, gradients and optimizer states are cut over the data-parallel ranks.
enum class Sharding : std::uint8_t { none, optimizer, gradients, parameters };

/// What is kept of a layer: everything; everything but attention's scores; its input alone.
enum class Recompute : std::uint8_t { none, selective, full };

enum class Loss : std::uint8_t { whole_logits, fused_linear, vocab_parallel };

enum class ContextExchange : std::uint8_t { ring, all_gather, all_to_all };

/// Base weights of linear layers in LoRA training.
enum class Quantization : std::uint8_t { none, eight_bit, four_bit };

/// Bytes of one parameter. An optimizer of two moments and a master copy in fp32 has 12.
struct StateBytes {
  Index weight = 2, gradient = 2, optimizer = 4;
};

struct ExpertDegrees {
  Index ep = 1, tp = 1, dp = 1;  // dp: ranks that hold the same experts
};

/// Low-rank adapters; rank 0: every weight is trained.
struct Adapter {
  Index rank = 0;
  std::vector<std::string> targets;  // names of linear layers; empty: all of a layer
  std::vector<std::string> saved;    // modules that are trained whole
  Quantization quantization = Quantization::none;
  bool trains_everything() const { return rank == 0; }
};

struct RecomputeSettings {
  Recompute what = Recompute::none;
  Index layers_a_unit = 1;                // full: one input is kept for so many layers
  Index layers = -1;                      // full: how many layers of a stage; -1: all
  bool mlp = false, layer_norms = false;  // selective: modules beside the scores
  bool offloads_inputs = false;           // kept inputs are in host memory
};

struct MemorySettings {
  std::string framework;
  std::vector<std::string> assumptions;
  Index tp = 1, cp = 1, pp = 1, dp = 1;
  Index virtual_stages = 1;  // a rank
  ExpertDegrees experts;
  bool sequence_parallel = false;

  StateBytes state;
  StateBytes adapter_state{4, 4, 8};
  std::string optimizer;
  Sharding sharding = Sharding::none;
  std::string sharding_name;  // "FSDP", "ZeRO-3", "distributed optimizer", "DDP"
  Index shards = 1;           // ranks of a sharding group
  Index expert_shards = 1;
  bool keeps_gathered = false;      // weights stay whole between forward and backward
  bool reduces_in_buckets = false;  // DDP copies every gradient into a bucket
  bool offloads_weights = false, offloads_optimizer = false;
  Index gather_bytes = 2;    // of a gathered weight
  Index units_gathered = 2;  // layers that are whole at once: one computes, the next is fetched
  Index head_gradient_bytes = 4;

  Adapter adapter;
  Index activation_bytes = 2;
  Index tokens = 0;      // of one micro-batch on a rank
  Index row_tokens = 0;  // whole length of the row that attention sees
  Index micro_batches = 1;
  bool fused_attention = true;
  Loss loss = Loss::whole_logits;
  ContextExchange exchange = ContextExchange::ring;
  RecomputeSettings recompute;
  Index vocabulary = 0;  // with Megatron's padding
};

MemorySettings megatron_memory_settings(const Plan&);
MemorySettings axolotl_memory_settings(const Plan&);

}  // namespace cpplan::plan
