#include "plan/model_flops.hpp"

#include "layout/sequence_map.hpp"

namespace cpplan::plan {
namespace {

double of(Index n) {
  return static_cast<double>(n);
}

/// Weights that multiply every token.
double multiplied_parameters(const model::ModelSpec& m) {
  const double q = of(m.num_attention_heads * m.head_dim),
               kv = of(m.num_key_value_heads * m.head_dim);
  const double h = of(m.hidden_size);
  const double layer = h * (2 * q + 2 * kv) + 3 * h * of(m.intermediate_size);
  return of(m.num_hidden_layers) * layer + h * of(m.vocab_size);
}

/// Twice the pairs that a document's queries see; a window's are counted one by one.
double squared_length(Index tokens, Index window) {
  if (window == 0 || window >= tokens) return of(tokens) * of(tokens);
  const kernels::Run all{0, tokens, 0, 1};
  return 2 * of(kernels::pairs(all, all, kernels::sliding_window(window)));
}

}  // namespace

double model_flops(const engine::Job& job, const engine::Documents& documents) {
  const model::ModelSpec& m = job.model;
  double tokens = 0, squares = 0;
  for (const auto& document : documents) {
    tokens += of(document.tokens);
    squares += squared_length(document.tokens, job.attention_window);
  }
  const double attention =
      6 * of(m.num_hidden_layers) * of(m.num_attention_heads * m.head_dim) * squares;
  const double micro_batches = of(job.micro_batches) * of(job.dims.dp);
  return micro_batches * (6 * multiplied_parameters(m) * tokens + attention);
}

}  // namespace cpplan::plan
