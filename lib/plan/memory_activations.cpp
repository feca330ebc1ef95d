// What a forward pass keeps: of every operation the tensors that its backward pass reads, counted a
// token. With GPT's shapes these are the 34 s b h of Korthikanti et al. (arXiv 2205.05198, section
// 4.1), with Llama's the 10 h + 2 (q + k + v + ...) + 6 f of flash attention and SwiGLU.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "plan/memory_terms.hpp"

namespace cpplan::plan {
namespace {

using Count = CheckedCount;
using model::LayerKind;
using model::ModelSpec;

/// Bytes of one token in one layer, before they are cut over `ranks`.
struct TokenBytes {
  std::string_view name;
  Count bytes;
  Index ranks = 1;
};

struct Rows {
  const MemorySettings& s;
  Index whole() const { return s.sequence_parallel ? s.tp : 1; }  // of what TP does not cut
  Index element() const { return s.activation_bytes; }
};

/// Inputs of norms, and of the linear layers behind them.
Count norm_bytes(const ModelSpec& m, const MemorySettings& s) {
  const Index kept = m.norms_per_layer + (s.recompute.layer_norms ? 0 : 2);
  return Count(kept) * m.hidden_size * s.activation_bytes;
}

Count query_key_value_bytes(const ModelSpec& m, const MemorySettings& s) {
  const Count normed = m.qk_norm == model::QkNorm::none ? Count(0) : query_width(m) + key_width(m);
  return (query_width(m) + key_width(m) + value_width(m) + normed) * s.activation_bytes;
}

/// The latents before and behind their norms.
Count latent_bytes(const ModelSpec& m, const MemorySettings& s) {
  const auto& l = m.latent;
  if (l.kv_lora_rank == 0) return 0;
  return (Count(2) * (Count(l.q_lora_rank) + l.kv_lora_rank) + l.qk_rope_head_dim) *
         s.activation_bytes;
}

/// Fused attention keeps a log-sum-exp a query and head. Without, the softmax; with dropout also
/// its mask and what it leaves. Hugging Face's softmax is in fp32 and then cast.
Count score_bytes(const ModelSpec& m, const MemorySettings& s) {
  const Count heads = m.num_attention_heads;
  if (s.fused_attention) return Count(4) * heads;
  if (s.recompute.what == Recompute::selective) return 0;
  Index bytes = s.activation_bytes + (s.framework == "axolotl" ? 4 : 0);
  if (m.attention_dropout > 0) bytes += 1 + s.activation_bytes;
  return heads * s.row_tokens * bytes;
}

/// What the activation function reads, and its result; of a gated MLP gate, up and product.
Count mlp_bytes(const ModelSpec& m, const MemorySettings& s, Count features) {
  if (s.recompute.mlp) return 0;
  return Count(m.mlp == model::Mlp::gated ? 3 : 2) * features * s.activation_bytes;
}

/// Of the experts that a token visits: its copy, their MLP, their result; probabilities in fp32.
Count expert_bytes(const ModelSpec& m, const MemorySettings& s) {
  const auto& e = m.experts;
  const Count one =
      Count(2) * m.hidden_size * s.activation_bytes + mlp_bytes(m, s, e.moe_intermediate_size);
  return Count(e.num_experts_per_tok) * one + Count(4) * e.num_local_experts;
}

std::vector<TokenBytes> layer_bytes(const ModelSpec& m, const MemorySettings& s, LayerKind kind) {
  const Rows rows{s};
  const bool routed = kind == LayerKind::routed;
  const Count features = routed ? m.experts.shared_intermediate_size : m.intermediate_size;
  const Count masks = m.hidden_dropout > 0 ? Count(2) * m.hidden_size : Count(0);
  return {{"norms and inputs of projections", norm_bytes(m, s), rows.whole()},
          {"queries, keys and values", query_key_value_bytes(m, s), s.tp},
          {"latents of attention", latent_bytes(m, s), rows.whole()},
          {"attention output", attention_output_width(m) * s.activation_bytes, s.tp},
          {s.fused_attention ? "log-sum-exp of attention" : "attention scores", score_bytes(m, s),
           s.tp},
          {"dropout masks", masks, rows.whole()},
          {routed ? "shared experts" : "MLP", mlp_bytes(m, s, features), s.tp},
          {"routed experts", routed ? expert_bytes(m, s) : Count(0), s.tp}};
}

/// Layers times micro-batches, where a chunk is a fraction of a stage.
struct InFlight {
  Index layers = 0, chunks = 1, of = 1;

  Count bytes(Count of_token, Index ranks, Index tokens) const {
    const auto divisor = checked_multiply(ranks, of);
    return divided_up(of_token * tokens * layers * chunks, divisor.value_or(1));
  }
  std::string text() const {
    const std::string of_layers = fmt::format("{} layers", with_thousands(layers));
    if (of > 1) return fmt::format("{} * {} chunks in flight / {}", of_layers, chunks, of);
    return chunks > 1 ? fmt::format("{} * {} micro-batches in flight", of_layers, chunks)
                      : of_layers;
  }
};

void add(TermList& terms, MemoryKind kind, const TokenBytes& part, const MemorySettings& s,
         const InFlight& layers, std::string_view prefix = {}) {
  const std::string cut = part.ranks > 1 ? fmt::format(" / {} TP ranks", part.ranks) : "";
  terms.add(kind, fmt::format("{}{}", prefix, part.name),
            layers.bytes(part.bytes, part.ranks, s.tokens),
            fmt::format("{} bytes a token{} * {} tokens * {}", count_text(part.bytes), cut,
                        with_thousands(s.tokens), layers.text()));
}

/// Layers of a stage whose inputs alone are kept.
Index recomputed_layers(const MemorySettings& s, const StageShape& stage) {
  if (s.recompute.what != Recompute::full) return 0;
  return s.recompute.layers < 0 ? stage.layers() : std::min(s.recompute.layers, stage.layers());
}

/// Whole layers first lose those that are recomputed, dense ones before routed ones.
std::pair<Index, Index> whole_layers(const MemorySettings& s, const StageShape& stage) {
  const Index recomputed = recomputed_layers(s, stage);
  const Index dense = std::max<Index>(0, stage.dense_layers - recomputed);
  return {dense, stage.layers() - recomputed - dense};
}

TokenBytes layer_input(const ModelSpec& m, const MemorySettings& s) {
  return {"inputs of recomputed layers", Count(m.hidden_size) * s.activation_bytes,
          Rows{s}.whole()};
}

/// The layer that is recomputed just before its backward pass, in full.
void add_live_unit(TermList& terms, const ModelSpec& m, const MemorySettings& s,
                   const StageShape& stage) {
  if (recomputed_layers(s, stage) == 0) return;
  const auto kind = stage.routed_layers > 0 ? LayerKind::routed : LayerKind::dense;
  const InFlight unit{std::min(s.recompute.layers_a_unit, stage.layers())};
  for (const TokenBytes& part : layer_bytes(m, s, kind))
    add(terms, MemoryKind::transient, part, s, unit, "recomputed layer: ");
}

/// Gradients inside an MLP: of gate and up; that of their product takes the product's place.
Count mlp_gradient_bytes(const ModelSpec& m, const MemorySettings& s, LayerKind kind) {
  const Index tensors = m.mlp == model::Mlp::gated ? 2 : 1;
  const auto& e = m.experts;
  const Count features = kind == LayerKind::dense
                             ? Count(m.intermediate_size)
                             : Count(e.shared_intermediate_size) +
                                   Count(e.num_experts_per_tok) * e.moe_intermediate_size;
  return Count(tensors) * features * s.activation_bytes;
}

/// Ring: the keys and values of the next rank beside those that are used, and as much again for
/// their gradients. All-gather: those of all ranks, and their gradients. All-to-all: queries, keys,
/// values and output with fewer heads of more tokens.
Count exchange_bytes(const ModelSpec& m, const MemorySettings& s) {
  const Count keys_and_values = (key_width(m) + value_width(m)) * s.activation_bytes;
  if (s.cp == 1) return 0;
  if (s.exchange == ContextExchange::ring) return Count(4) * keys_and_values;
  if (s.exchange == ContextExchange::all_gather) return Count(2) * s.cp * keys_and_values;
  return Count(4) * query_width(m) * s.activation_bytes;
}

TokenBytes attention_gradients(const ModelSpec& m, const MemorySettings& s) {
  const Count widths = query_width(m) + key_width(m) + value_width(m) + attention_output_width(m);
  return {s.cp > 1 ? "gradients of attention, exchange over CP" : "gradients of attention",
          widths * s.activation_bytes + exchange_bytes(m, s), s.tp};
}

void add_gradients(TermList& terms, const ModelSpec& m, const MemorySettings& s,
                   const StageShape& stage) {
  const auto kind = stage.routed_layers > 0 ? LayerKind::routed : LayerKind::dense;
  const InFlight one{1};
  add(terms, MemoryKind::transient,
      {"gradient of a layer's output", Count(m.hidden_size) * s.activation_bytes, Rows{s}.whole()},
      s, one);
  const TokenBytes mlp{"gradients of the MLP", mlp_gradient_bytes(m, s, kind), s.tp};
  const TokenBytes attention = attention_gradients(m, s);
  const auto a = attention.bytes.value(), b = mlp.bytes.value();
  add(terms, MemoryKind::transient, a && b && *a > *b ? attention : mlp, s, one);
}

/// Gathered layers stay as packed as their shards are.
Count gathered_layer_bytes(const MemorySettings& s, Count parameters) {
  if (s.adapter.quantization == Quantization::four_bit) return divided_up(parameters, 2);
  if (s.adapter.quantization == Quantization::eight_bit) return parameters;
  return Count(s.gather_bytes) * parameters;
}

/// Weights that FSDP or ZeRO-3 has put together.
void add_gathered(TermList& terms, const MemorySettings& s, const RankParameters& p) {
  if (s.sharding < Sharding::parameters) return;
  const auto layers = [&](std::string_view name, Index units, Count parameters) {
    const Count bytes = gathered_layer_bytes(s, parameters);
    terms.add(MemoryKind::transient, std::string(name), bytes * units,
              fmt::format("{} of {} parameters: {} * {} bytes", units > 1 ? "each" : "all",
                          count_text(parameters), units, count_text(bytes)));
  };
  if (s.keeps_gathered)
    layers("gathered weights of all layers", 1, p.layers + p.experts);
  else
    layers("gathered layers", s.units_gathered, p.largest_layer);
  if (s.sharding_name == "FSDP")
    terms.add(MemoryKind::transient, "gathered embedding and head",
              Count(s.gather_bytes) * p.root(),
              fmt::format("{} * {} parameters", s.gather_bytes, count_text(p.root())));
}

/// ZeRO-3 fetches the output layer when it runs; FSDP's root has it anyway.
void add_gathered_head(TermList& terms, const ModelSpec& m, const MemorySettings& s) {
  if (s.sharding < Sharding::parameters || s.sharding_name == "FSDP") return;
  const Count head = Count(m.hidden_size) * divided_up(s.vocabulary, s.tp);
  terms.add(MemoryKind::transient, "gathered output layer", Count(s.gather_bytes) * head,
            fmt::format("{} * {} parameters", s.gather_bytes, count_text(head)));
}

void add_unscattered(TermList& terms, const MemorySettings& s, const RankParameters& p) {
  if (s.sharding < Sharding::gradients || !s.adapter.trains_everything()) return;
  terms.add(MemoryKind::transient, "gradient of a layer before it is scattered",
            Count(s.gather_bytes) * p.largest_layer,
            fmt::format("{} * {} parameters", s.gather_bytes, count_text(p.largest_layer)));
}

/// The gradient of the output layer is made whole before it joins the sum of micro-batches.
void add_head_gradient(TermList& terms, const ModelSpec& m, const MemorySettings& s) {
  const Count head = Count(m.hidden_size) * divided_up(s.vocabulary, s.tp);
  if (!s.adapter.trains_everything()) return;
  terms.add(MemoryKind::transient, "gradient of the output layer",
            Count(s.head_gradient_bytes) * head,
            fmt::format("{} * {} parameters", s.head_gradient_bytes, count_text(head)));
}

/// Hugging Face: logits, their fp32 copy, and its gradient. Megatron: the fp32 softmax of a rank's
/// part of the vocabulary, in whose place the gradient comes. Fused with the projection: none.
TokenBytes logits(const MemorySettings& s) {
  const Count v = s.vocabulary;
  if (s.loss == Loss::fused_linear) return {"logits", 0};
  if (s.loss == Loss::vocab_parallel) return {"logits", Count(4) * v, s.tp};
  return {"logits, their fp32 copy and its gradient",
          v * ((s.activation_bytes < 4 ? s.activation_bytes : 0) + Index{8})};
}

}  // namespace

TermList activation_terms(const ModelSpec& m, const MemorySettings& s, const StageShape& stage) {
  TermList terms;
  const auto [dense, routed] = whole_layers(s, stage);
  const auto in_flight = [&](Index layers) {
    return InFlight{layers, stage.chunks_in_flight, stage.chunks};
  };
  const bool both = dense > 0 && routed > 0;
  if (dense > 0)
    for (const TokenBytes& part : layer_bytes(m, s, LayerKind::dense))
      add(terms, MemoryKind::activations, part, s, in_flight(dense), both ? "dense layers: " : "");
  if (routed > 0)
    for (const TokenBytes& part : layer_bytes(m, s, LayerKind::routed))
      add(terms, MemoryKind::activations, part, s, in_flight(routed),
          both ? "routed layers: " : "");
  const Index inputs = ceil_div(recomputed_layers(s, stage), s.recompute.layers_a_unit);
  if (!s.recompute.offloads_inputs)
    add(terms, MemoryKind::activations, layer_input(m, s), s, in_flight(inputs));
  if (stage.is_first && m.hidden_dropout > 0)
    add(terms, MemoryKind::activations,
        {"dropout mask of the embedding", m.hidden_size, Rows{s}.whole()}, s, in_flight(1));
  return terms;
}

TermList loss_terms(const ModelSpec& m, const MemorySettings& s, const StageShape& stage,
                    const RankParameters& p) {
  TermList terms;
  if (!stage.is_last) return terms;
  const InFlight once{1};
  add(terms, MemoryKind::transient,
      {"final norm and input of the output layer", Count(2) * m.hidden_size * s.activation_bytes,
       Rows{s}.whole()},
      s, once);
  add(terms, MemoryKind::transient, logits(s), s, once);
  add_head_gradient(terms, m, s);
  add_gathered(terms, s, p);
  add_gathered_head(terms, m, s);
  return terms;
}

TermList backward_terms(const ModelSpec& m, const MemorySettings& s, const StageShape& stage,
                        const RankParameters& p) {
  TermList terms;
  add_live_unit(terms, m, s, stage);
  add_gradients(terms, m, s, stage);
  add_gathered(terms, s, p);
  add_unscattered(terms, s, p);
  return terms;
}

}  // namespace cpplan::plan
