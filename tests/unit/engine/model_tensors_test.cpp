#include "engine/model_tensors.hpp"

#include <doctest/doctest.h>

#include <set>

#include "engine/parameters.hpp"

namespace cpplan::engine {
namespace {

model::ModelSpec small_model() {
  return {.name = "small",
          .hidden_size = 32,
          .num_hidden_layers = 3,
          .num_attention_heads = 8,
          .num_key_value_heads = 4,
          .head_dim = 4,
          .intermediate_size = 48,
          .vocab_size = 250};
}

std::vector<TensorSpec> every_tensor(const model::ModelSpec& m) {
  std::vector<TensorSpec> all = {embedding_tensor(m), final_norm_tensor(m), output_tensor(m)};
  for (Index layer = 0; layer < m.num_hidden_layers; ++layer) {
    const auto t = layer_tensors(m, layer);
    for (const auto& spec :
         {t.attention_norm, t.q, t.k, t.v, t.o, t.mlp_norm, t.gate, t.up, t.down}) {
      all.push_back(spec);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("model tensors: slots number the tensors without a gap") {
  const auto model = small_model();
  std::set<Index> slots;
  for (const auto& spec : every_tensor(model)) slots.insert(spec.slot);
  CHECK(std::ssize(slots) == tensor_count(model));
  CHECK(*slots.begin() == 0);
  CHECK(*slots.rbegin() == tensor_count(model) - 1);
}

TEST_CASE("model tensors: elements add up to the parameter count") {
  const auto model = small_model();
  Index elements = 0;
  for (const auto& spec : every_tensor(model)) elements += spec.rows * spec.cols;
  CHECK(elements == model::parameter_count(model));
}

TEST_CASE("model tensors: TP shards cover each tensor once") {
  for (const int tp : {1, 2, 4}) {
    for (const auto& spec : every_tensor(small_model())) {
      CAPTURE(spec.name);
      std::vector<int> seen(static_cast<std::size_t>(spec.rows * spec.cols));
      const layout::ParallelDims dims{tp, 1, 1, 1, true};
      for (int part = 0; part < tp; ++part) {
        const auto shard = shard_of(spec, dims, part);
        if (shard.parts == 1 && part > 0) continue;  // the same whole tensor again
        for (Index i = 0; i < shard.valid_rows(); ++i) {
          for (Index j = 0; j < shard.col_count; ++j) ++seen[shard.element(i, j)];
        }
      }
      CHECK(seen == std::vector<int>(seen.size(), 1));
    }
  }
}

TEST_CASE("model tensors: norm gradients are partial over TP under sequence parallelism alone") {
  const auto norm = final_norm_tensor(small_model());
  CHECK(shard_of(norm, {2, 1, 1, 1, true}, 0).summed_over == layout::SummedOver::tp);
  CHECK(shard_of(norm, {2, 1, 1, 1, false}, 0).summed_over == layout::SummedOver::nothing);
  CHECK(shard_of(norm, {1, 1, 1, 1, true}, 0).summed_over == layout::SummedOver::nothing);
}

TEST_CASE("model tensors: the vocabulary is padded to a multiple of TP") {
  const auto last = shard_of(embedding_tensor(small_model()), {4, 1, 1, 1, true}, 3);
  CHECK(last.row_count == 63);
  CHECK(last.first_row == 189);
  CHECK(last.valid_rows() == 61);
}

}  // namespace cpplan::engine
