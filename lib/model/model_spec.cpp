#include "model/model_spec.hpp"

#include "base/checked.hpp"
#include "base/contract.hpp"
#include "model/resolve.hpp"

namespace cpplan::model {
namespace {

// Each term is the product that a tensor of the layer has; their sum is
// h*(a*d) + 2*h*(g*d) + (a*d)*h + 3*h*f + 2*h.
std::optional<Index> layer_parameters(const ModelSpec& m) {
  const auto q_and_o = checked_product(2, m.hidden_size, m.num_attention_heads, m.head_dim);
  const auto k_and_v = checked_product(2, m.hidden_size, m.num_key_value_heads, m.head_dim);
  const auto mlp = checked_product(3, m.hidden_size, m.intermediate_size);
  const auto norms = checked_product(2, m.hidden_size);
  return checked_sum(q_and_o, k_and_v, mlp, norms);
}

}  // namespace

std::optional<Index> checked_parameter_count(const ModelSpec& m) {
  const auto layer = layer_parameters(m);
  const auto layers =
      layer ? checked_multiply(*layer, m.num_hidden_layers) : std::optional<Index>();
  const auto vocabulary =
      checked_product(m.tie_word_embeddings ? 1 : 2, m.hidden_size, m.vocab_size);
  return checked_sum(layers, vocabulary, m.hidden_size);
}

Index parameter_count(const ModelSpec& m) {
  const auto count = checked_parameter_count(m);
  expect(count.has_value(), "a model spec's parameters are countable");
  return *count;
}

}  // namespace cpplan::model
