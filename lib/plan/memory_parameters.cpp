// How many weights a rank holds, and how many of them LoRA trains.
#include <algorithm>
#include <array>

#include "plan/memory_terms.hpp"

namespace cpplan::plan {
namespace {

using Count = CheckedCount;
using model::LayerKind;
using model::ModelSpec;

struct Linear {
  std::string_view name;
  Count in, out;
  Count copies = 1;  // one an expert
};

std::vector<Linear> attention_linears(const ModelSpec& m) {
  const Count h = m.hidden_size;
  const Linear out{"o_proj", attention_output_width(m), h};
  if (m.latent.kv_lora_rank == 0)
    return {{"q_proj", h, query_width(m)},
            {"k_proj", h, key_width(m)},
            {"v_proj", h, value_width(m)},
            out};
  const auto& l = m.latent;
  const Count kv_up = Count(m.num_attention_heads) * (Count(l.qk_nope_head_dim) + l.v_head_dim);
  std::vector<Linear> linears = {
      {"kv_a_proj_with_mqa", h, Count(l.kv_lora_rank) + l.qk_rope_head_dim},
      {"kv_b_proj", l.kv_lora_rank, kv_up},
      out};
  if (l.q_lora_rank == 0) {
    linears.push_back({"q_proj", h, query_width(m)});
  } else {
    linears.push_back({"q_a_proj", h, l.q_lora_rank});
    linears.push_back({"q_b_proj", l.q_lora_rank, query_width(m)});
  }
  return linears;
}

void add_mlp(std::vector<Linear>& linears, const ModelSpec& m, Count features, Count copies) {
  const Count h = m.hidden_size;
  if (m.mlp == model::Mlp::gated) linears.push_back({"gate_proj", h, features, copies});
  linears.push_back({"up_proj", h, features, copies});
  linears.push_back({"down_proj", features, h, copies});
}

std::vector<Linear> linears_of(const ModelSpec& m, LayerKind kind) {
  std::vector<Linear> linears = attention_linears(m);
  const auto& e = m.experts;
  if (kind == LayerKind::dense) {
    add_mlp(linears, m, m.intermediate_size, 1);
  } else {
    add_mlp(linears, m, e.moe_intermediate_size, e.num_local_experts);
    if (e.shared_intermediate_size > 0) add_mlp(linears, m, e.shared_intermediate_size, 1);
  }
  return linears;
}

/// Names of the same weights in other files: Phi's fused projections, Mixtral's w1, w3, w2.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> aliases = {{
    {"qkv_proj", "q_proj"},
    {"qkv_proj", "k_proj"},
    {"qkv_proj", "v_proj"},
    {"gate_up_proj", "gate_proj"},
    {"gate_up_proj", "up_proj"},
    {"w1", "gate_proj"},
    {"w3", "up_proj"},
    {"w2", "down_proj"},
}};

/// PEFT matches a target as the end of a module's name.
bool is_target(const Adapter& adapter, std::string_view linear) {
  if (adapter.targets.empty()) return true;
  return std::ranges::any_of(adapter.targets, [&](std::string_view target) {
    const auto dot = target.rfind('.');
    const auto name = dot == std::string_view::npos ? target : target.substr(dot + 1);
    return name == linear || name == "all-linear" ||
           std::ranges::count(aliases, std::pair(name, linear)) > 0;
  });
}

bool saves(const Adapter& adapter, std::string_view module) {
  return std::ranges::any_of(adapter.saved,
                             [&](std::string_view name) { return name.ends_with(module); });
}

struct LayerOfRank {
  Count weights, experts, quantized;
};

LayerOfRank layer_of_rank(const ModelSpec& m, const MemorySettings& s, LayerKind kind) {
  const auto layer = layer_parameters(m, kind);
  LayerOfRank rank;
  const Count cut = divided_up(layer.attention + layer.mlp, s.tp);
  rank.weights = cut + layer.whole;
  rank.experts = divided_up(divided_up(layer.experts, s.experts.ep), s.experts.tp);
  rank.quantized = cut + rank.experts;
  return rank;
}

/// The vocabulary as the framework pads it; over TP.
Count vocabulary_of_rank(const ModelSpec& m, const MemorySettings& s) {
  return Count(m.hidden_size) * divided_up(s.vocabulary, s.tp);
}

void read_ends(const ModelSpec& m, const MemorySettings& s, const StageShape& stage,
               RankParameters& p) {
  const Count table = vocabulary_of_rank(m, s);
  if (stage.is_first) p.embedding = table + position_parameters(m);
  if (!stage.is_last) return;
  // A stage apart from the first one has a copy of the tied embedding.
  const bool shares = m.tie_word_embeddings && stage.is_first;
  p.head = (shares ? Count(0) : table) + final_norm_parameters(m);
}

void read_trainable(const ModelSpec& m, const MemorySettings& s, const StageShape& stage,
                    RankParameters& p) {
  p.layer_adapters = Count(stage.dense_layers) * adapter_parameters(m, s.adapter, LayerKind::dense);
  if (stage.routed_layers > 0)
    p.layer_adapters +=
        Count(stage.routed_layers) * adapter_parameters(m, s.adapter, LayerKind::routed);
  p.layer_adapters = divided_up(p.layer_adapters, s.tp);
  if (stage.is_first && saves(s.adapter, "embed_tokens")) p.saved += vocabulary_of_rank(m, s);
  if (stage.is_last && saves(s.adapter, "lm_head")) p.saved += vocabulary_of_rank(m, s);
}

}  // namespace

Count adapter_parameters(const ModelSpec& m, const Adapter& adapter, LayerKind kind) {
  Count total;
  for (const Linear& linear : linears_of(m, kind))
    if (is_target(adapter, linear.name))
      total += linear.copies * adapter.rank * (linear.in + linear.out);
  return total;
}

RankParameters rank_parameters(const ModelSpec& m, const MemorySettings& s,
                               const StageShape& stage) {
  RankParameters p;
  const auto add = [&](LayerKind kind, Index layers) {
    if (layers == 0) return;
    const LayerOfRank one = layer_of_rank(m, s, kind);
    p.layers += Count(layers) * one.weights;
    p.experts += Count(layers) * one.experts;
    p.quantized += Count(layers) * one.quantized;
    p.largest_layer = larger(p.largest_layer, one.weights + one.experts);
  };
  add(LayerKind::dense, stage.dense_layers);
  add(LayerKind::routed, stage.routed_layers);
  read_ends(m, s, stage, p);
  if (!s.adapter.trains_everything()) read_trainable(m, s, stage, p);
  return p;
}

}  // namespace cpplan::plan
