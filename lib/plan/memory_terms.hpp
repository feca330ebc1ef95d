#pragma once
// The parts from which memory.cpp puts a stage together. Internal to plan/memory*.
#include <optional>
#include <string>
#include <vector>

#include "base/checked_count.hpp"
#include "model/parameters.hpp"
#include "plan/memory_settings.hpp"

namespace cpplan::plan {

/// "1,234", or that it is beyond 64 bits.
std::string count_text(CheckedCount count);

/// A pipeline stage and what of it is in flight at its peak.
struct StageShape {
  int index = 0;
  Index dense_layers = 0, routed_layers = 0;
  bool is_first = true, is_last = true;
  // Micro-batches in flight, as a fraction where a stage is cut into `chunks` virtual ones.
  Index chunks_in_flight = 1, chunks = 1;

  Index layers() const { return dense_layers + routed_layers; }
};

/// 1F1B: stage i keeps min(M, p - i) micro-batches. Interleaved, a rank warms up with
/// 2(p - i - 1) + (v - 1)p chunks before the first backward: for i = 0 the factor
/// 1 + (p - 1)/(p v) of Korthikanti et al. (arXiv 2205.05198, section 4.2.3).
struct StageLayers {
  int stage = 0;
  Index first = 0, count = 0;  // layers
  bool is_last = true;
};
StageShape stage_shape(const model::ModelSpec&, const MemorySettings&, const StageLayers&);

/// Terms in the order of their making; one that does not fit 64 bits makes the whole uncountable.
class TermList {
 public:
  /// Left out where `bytes` is 0.
  void add(MemoryKind kind, std::string name, CheckedCount bytes, std::string formula);
  void append(const TermList& other);

  CheckedCount total() const { return total_; }
  const std::vector<MemoryTerm>& terms() const { return terms_; }

 private:
  std::vector<MemoryTerm> terms_;
  CheckedCount total_;
};

/// Weights that one rank of a stage would hold without sharding over data parallelism.
struct RankParameters {
  CheckedCount layers, experts;  // all layers without their routed experts; those
  CheckedCount embedding, head;  // with learned positions; with the final norm
  CheckedCount largest_layer;    // with its experts
  CheckedCount quantized;        // of layers and experts: linear layers, which bitsandbytes packs
  CheckedCount layer_adapters;   // trainable, of LoRA
  CheckedCount saved;            // trainable whole: modules_to_save

  CheckedCount without_experts() const { return layers + embedding + head; }
  CheckedCount root() const { return embedding + head; }
};
RankParameters rank_parameters(const model::ModelSpec&, const MemorySettings&, const StageShape&);

/// Low-rank weights of one layer: rank * (in + out) of each linear layer that `targets` names.
CheckedCount adapter_parameters(const model::ModelSpec&, const Adapter&, model::LayerKind);

/// Weights, gradients and optimizer states.
TermList state_terms(const MemorySettings&, const RankParameters&);

/// What the forward pass keeps for the backward one.
TermList activation_terms(const model::ModelSpec&, const MemorySettings&, const StageShape&);

/// What stands beside those while the loss is computed (last stage alone), and while a layer runs
/// backward.
TermList loss_terms(const model::ModelSpec&, const MemorySettings&, const StageShape&,
                    const RankParameters&);
TermList backward_terms(const model::ModelSpec&, const MemorySettings&, const StageShape&,
                        const RankParameters&);

}  // namespace cpplan::plan
