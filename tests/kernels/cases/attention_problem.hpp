#pragma once
// Attention problems by their mask and heads, for the cases, the tests and the benchmark.
#include <string>
#include <vector>

#include "kernels/support/session.hpp"

namespace cpplan::kernels::test {

struct AttentionProblem {
  std::string name;
  Index queries = 0, keys = 0;  // rows
  Index heads = 1, kv_heads = 1, head_dim = 8;
  std::vector<Block> blocks{};
  Band band = causal;
  Dropout dropout{};
  Index first_head = 0;
};

/// `count` rows from row `row` on, positions from `first` on.
Run rows(Index row, Index count, Index first, Index stride = 1);

/// One block whose coverage follows from its runs.
Block block(Run q, Run k, Band band, Index sample = 0);

/// One sequence of n tokens against itself.
AttentionProblem dense(std::string name, Index n, Band band);

struct AttentionInputs {
  Matrix q, k, v, dout;
};
AttentionInputs random_inputs(const AttentionProblem& problem);

/// The op with empty results: lse -inf, out poisoned. It refers to `problem`'s blocks.
Attention make_attention(Session& s, const AttentionProblem& problem,
                         const AttentionInputs& inputs);

/// The op after that forward pass; gradients start from `start`.
AttentionBackward make_backward(Session& s, const Attention& forward, const AttentionInputs& inputs,
                                double start = 0);

}  // namespace cpplan::kernels::test
