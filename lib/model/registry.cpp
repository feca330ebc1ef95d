#include "model/registry.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace cpplan::model {
namespace {

struct Entry {
  std::string_view name;
  std::array<std::string_view, 2> also;  // the last part of hub ids that differ from `name`
  Index layers, hidden, heads, kv_heads, head_dim, intermediate, vocab, positions;
  double rope_theta, rms_norm_eps;
  bool tied;
};

// Source of each row: config.json of the model's repository on the hub, read at the ids in the
// comments. All are of the Llama type, with neither biases nor query-key norms.
constexpr Entry entries[] = {
    // meta-llama/Llama-3.1-*, arXiv 2407.21783 table 3
    {"Llama-3.1-8B",
     {"Meta-Llama-3.1-8B"},
     32,
     4096,
     32,
     8,
     128,
     14336,
     128256,
     131072,
     5e5,
     1e-5,
     false},
    {"Llama-3.1-70B",
     {"Meta-Llama-3.1-70B"},
     80,
     8192,
     64,
     8,
     128,
     28672,
     128256,
     131072,
     5e5,
     1e-5,
     false},
    {"Llama-3.1-405B",
     {"Meta-Llama-3.1-405B"},
     126,
     16384,
     128,
     8,
     128,
     53248,
     128256,
     131072,
     5e5,
     1e-5,
     false},
    // meta-llama/Meta-Llama-3-*
    {"Llama-3-8B",
     {"Meta-Llama-3-8B"},
     32,
     4096,
     32,
     8,
     128,
     14336,
     128256,
     8192,
     5e5,
     1e-5,
     false},
    {"Llama-3-70B",
     {"Meta-Llama-3-70B"},
     80,
     8192,
     64,
     8,
     128,
     28672,
     128256,
     8192,
     5e5,
     1e-5,
     false},
    // meta-llama/Llama-3.2-*, Llama-3.3-70B-Instruct
    {"Llama-3.2-1B", {}, 16, 2048, 32, 8, 64, 8192, 128256, 131072, 5e5, 1e-5, true},
    {"Llama-3.2-3B", {}, 28, 3072, 24, 8, 128, 8192, 128256, 131072, 5e5, 1e-5, true},
    {"Llama-3.3-70B", {}, 80, 8192, 64, 8, 128, 28672, 128256, 131072, 5e5, 1e-5, false},
    // meta-llama/Llama-2-*-hf
    {"Llama-2-7B", {"Llama-2-7b-hf"}, 32, 4096, 32, 32, 128, 11008, 32000, 4096, 1e4, 1e-5, false},
    {"Llama-2-13B",
     {"Llama-2-13b-hf"},
     40,
     5120,
     40,
     40,
     128,
     13824,
     32000,
     4096,
     1e4,
     1e-5,
     false},
    {"Llama-2-70B", {"Llama-2-70b-hf"}, 80, 8192, 64, 8, 128, 28672, 32000, 4096, 1e4, 1e-5, false},
    // TinyLlama/TinyLlama-1.1B-intermediate-step-1431k-3T
    {"TinyLlama-1.1B",
     {"TinyLlama-1.1B-Chat-v1.0", "TinyLlama_v1.1"},
     22,
     2048,
     32,
     4,
     64,
     5632,
     32000,
     2048,
     1e4,
     1e-5,
     false},
    // mistralai/Mistral-7B-v0.1 (sliding window 4096, which changes no dimension), -v0.3
    {"Mistral-7B",
     {"Mistral-7B-v0.1"},
     32,
     4096,
     32,
     8,
     128,
     14336,
     32000,
     32768,
     1e4,
     1e-5,
     false},
    {"Mistral-7B-v0.3", {}, 32, 4096, 32, 8, 128, 14336, 32768, 32768, 1e6, 1e-5, false},
};

ModelSpec to_spec(const Entry& e) {
  ModelSpec m;
  m.name = std::string(e.name);
  m.num_hidden_layers = e.layers;
  m.hidden_size = e.hidden;
  m.num_attention_heads = e.heads;
  m.num_key_value_heads = e.kv_heads;
  m.head_dim = e.head_dim;
  m.intermediate_size = e.intermediate;
  m.vocab_size = e.vocab;
  m.max_position_embeddings = e.positions;
  m.rope_theta = e.rope_theta;
  m.rms_norm_eps = e.rms_norm_eps;
  m.tie_word_embeddings = e.tied;
  return m;
}

/// What identifies a model in a hub id: its last part, without the marks of a tuned copy of the
/// same dimensions. Empty for a folder.
std::string identity(std::string_view name) {
  if (name.starts_with('.') || name.starts_with('/') || name.starts_with('~')) return {};
  const auto slash = name.rfind('/');
  std::string last = lower_case(slash == std::string_view::npos ? name : name.substr(slash + 1));
  for (const std::string_view suffix : {"-instruct", "-hf", "-chat"})
    if (last.ends_with(suffix)) last.resize(last.size() - suffix.size());
  return last;
}

bool is_called(const Entry& e, std::string_view wanted) {
  const auto same = [&](std::string_view name) {
    return !name.empty() && identity(name) == wanted;
  };
  return same(e.name) || std::ranges::any_of(e.also, same);
}

}  // namespace

std::optional<ModelSpec> find_model(std::string_view name) {
  const std::string wanted = identity(name);
  if (wanted.empty()) return std::nullopt;
  const auto* found =
      std::ranges::find_if(entries, [&](const Entry& e) { return is_called(e, wanted); });
  return found == std::end(entries) ? std::nullopt : std::optional(to_spec(*found));
}

std::vector<std::string> models_like(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry& e : entries) names.push_back(e.name);
  return did_you_mean(identity(name), names);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Entry& e : entries) names.emplace_back(e.name);
  return names;
}

}  // namespace cpplan::model
