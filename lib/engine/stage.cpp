#include "engine/stage.hpp"

#include <numeric>

namespace cpplan::engine {

Stage::Stage(const Job& job, int number, const ParameterStore& store) : tp_(job.dims) {
  const auto& layers = job.stage_layers;
  const bool is_first = number == 0, is_last = number + 1 == std::ssize(layers);
  const bool tied = job.model.tie_word_embeddings;
  expect(std::ssize(layers) == job.dims.pp * job.virtual_stages,
         "a layer count for each virtual stage");
  expect(!tied || layers.size() == 1, "tied embeddings share a stage");

  Weight table;
  if (is_first) embedding_.emplace(tp_, table = store.weight(embedding_tensor(job.model)));
  const int before = std::accumulate(layers.begin(), layers.begin() + number, 0);
  for (int i = 0; i < layers[number]; ++i) {
    blocks_.emplace_back(job.recompute, TransformerBlock(job, tp_, before + i, store));
  }
  if (is_last) {
    const Weight norm = store.weight(final_norm_tensor(job.model));
    head_.emplace(job, tp_, norm, tied ? table : store.weight(output_tensor(job.model)));
  }
}

void Stage::forward(Step& step, Saved& saved) const {
  if (first()) embedding_->forward(step, saved.input);
  saved.blocks.assign(blocks_.size(), {});
  saved.output = saved.input;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Tensor x = saved.output;
    saved.output = step.saved.like(x);
    blocks_[i].forward(step, x, saved.output, saved.blocks[i]);
  }
}

void Stage::backward(Step& step, Tensor grad, Tensor loss, Saved& saved) const {
  if (last()) head_->forward_backward(step, saved.output, grad, loss);
  for (std::size_t i = blocks_.size(); i-- > 0;) blocks_[i].backward(step, grad, saved.blocks[i]);
  if (first()) embedding_->backward(step, grad);
}

}  // namespace cpplan::engine
