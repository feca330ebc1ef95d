#include "engine/stage.hpp"

#include <numeric>

namespace cpplan::engine {

Stage::Stage(const Job& job, int stage, ParameterStore& store) : tp_(job.dims) {
  const auto& layers = job.stage_layers;
  const bool is_first = stage == 0, is_last = stage + 1 == job.dims.pp;
  const bool tied = job.model.tie_word_embeddings;
  expect(std::ssize(layers) == job.dims.pp, "a layer count for each stage");
  expect(!tied || job.dims.pp == 1, "tied embeddings share a stage");

  Weight table;
  if (is_first) embedding_.emplace(tp_, table = store.add(embedding_tensor(job.model)));
  const int before = std::accumulate(layers.begin(), layers.begin() + stage, 0);
  blocks_.reserve(static_cast<std::size_t>(layers[stage]));
  for (int i = 0; i < layers[stage]; ++i) blocks_.emplace_back(job, tp_, before + i, store);
  if (is_last) {
    const Weight norm = store.add(final_norm_tensor(job.model));
    head_.emplace(job, tp_, norm, tied ? table : store.add(output_tensor(job.model)));
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
