// Weights, gradients and optimizer states: estimates from ZeRO (arXiv 1910.02054, section 3) with
// the bytes that each framework really keeps.
#include <fmt/format.h>

#include "base/text.hpp"
#include "plan/memory_terms.hpp"

namespace cpplan::plan {
namespace {

using Count = CheckedCount;

struct Part {
  std::string_view of;  // " of the experts"
  Count parameters;
  Index shards = 1;
};

/// bytes * parameters / ranks that share them.
void add_state(TermList& terms, MemoryKind kind, std::string_view what, const Part& part,
               Index bytes, Index shards) {
  std::string formula = fmt::format("{} * {} parameters", bytes, count_text(part.parameters));
  if (shards > 1) formula += fmt::format(" / {} ranks", with_thousands(shards));
  terms.add(kind, fmt::format("{}{}", what, part.of),
            divided_up(Count(bytes) * part.parameters, shards), std::move(formula));
}

bool shares(const MemorySettings& s, Sharding from) {
  return s.sharding >= from;
}

void add_trained(TermList& terms, const MemorySettings& s, const Part& part,
                 const StateBytes& bytes) {
  const auto ranks = [&](Sharding from) { return shares(s, from) ? part.shards : 1; };
  if (!s.offloads_weights)
    add_state(terms, MemoryKind::parameters, "weights", part, bytes.weight,
              ranks(Sharding::parameters));
  // ZeRO-Offload moves gradients to the host as they come.
  const bool gradients_stay = !(s.offloads_optimizer && shares(s, Sharding::gradients));
  if (gradients_stay)
    add_state(terms, MemoryKind::gradients, "gradients", part, bytes.gradient,
              ranks(Sharding::gradients));
  if (s.reduces_in_buckets)
    add_state(terms, MemoryKind::gradients, "reduction buckets", part, bytes.gradient, 1);
  if (!s.offloads_optimizer)
    add_state(terms, MemoryKind::optimizer, "optimizer states", part, bytes.optimizer,
              ranks(Sharding::optimizer));
}

/// Half a byte (NF4) or one a weight of a linear layer. NF4 has a scale of 8 bits a block of 64,
/// and of those one of 32 bits a block of 256 (QLoRA, arXiv 2305.14314, section 3): 1/64 + 1/4096
/// bytes.
void add_quantized(TermList& terms, const MemorySettings& s, Count parameters, Index shards) {
  const bool four = s.adapter.quantization == Quantization::four_bit;
  const Count bytes =
      four ? divided_up(parameters, 2) + divided_up(parameters, 64) + divided_up(parameters, 4096)
           : parameters;
  terms.add(MemoryKind::parameters, "quantized weights", divided_up(bytes, shards),
            fmt::format("{} * {} parameters / {} ranks", four ? "(1/2 + 1/64 + 1/4096)" : "1",
                        count_text(parameters), with_thousands(shards)));
}

void add_frozen(TermList& terms, const MemorySettings& s, const RankParameters& p) {
  if (s.offloads_weights) return;
  const Index shards = shares(s, Sharding::parameters) ? s.shards : 1;
  Count plain = p.without_experts() + p.experts;
  if (s.adapter.quantization != Quantization::none) {
    add_quantized(terms, s, p.quantized, shards);
    plain = plain - p.quantized;
  }
  add_state(terms, MemoryKind::parameters, "weights", {" that are frozen", plain, shards},
            s.state.weight, shards);
}

}  // namespace

TermList state_terms(const MemorySettings& s, const RankParameters& p) {
  TermList terms;
  if (!s.adapter.trains_everything()) {
    add_frozen(terms, s, p);
    add_trained(terms, s, {" of adapters", p.layer_adapters, s.shards}, s.adapter_state);
    add_trained(terms, s, {" of modules trained whole", p.saved, s.shards}, s.adapter_state);
    return terms;
  }
  add_trained(terms, s, {" of the layers", p.layers, s.shards}, s.state);
  add_trained(terms, s, {" of the experts", p.experts, s.expert_shards}, s.state);
  add_trained(terms, s, {" of embedding and head", p.root(), s.shards}, s.state);
  return terms;
}

}  // namespace cpplan::plan
