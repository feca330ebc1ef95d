#include "engine/stage.hpp"

#include <algorithm>
#include <numeric>

namespace cpplan::engine {

namespace {

Index layers_before(const Job& job, int stage) {
  const auto& layers = job.stage_layers;
  return std::accumulate(layers.begin(), layers.begin() + stage, Index{0});
}

}  // namespace

Stage::Stage(const Job& job, int number, const ParameterStore& store, UnitTraffic traffic)
    : tp_(job.dims), traffic_(traffic), first_layer_(layers_before(job, number)) {
  const auto& layers = job.stage_layers;
  expect(std::ssize(layers) == job.dims.pp * job.virtual_stages,
         "a layer count for each virtual stage");
  if (number == 0) {
    const TensorSpec table = embedding_tensor(job.model);
    embedding_.emplace(tp_, store.weight(table));
    embedding_unit_ = store.unit_of(table);
  }
  for (int i = 0; i < layers[static_cast<std::size_t>(number)]; ++i) {
    blocks_.emplace_back(job.recompute, TransformerBlock(job, tp_, first_layer_ + i, store));
    block_units_.push_back(
        store.unit_of(layer_tensors(job.model, first_layer_ + i).attention_norm));
  }
  if (number + 1 == std::ssize(layers)) add_head(job, store);
}

void Stage::add_head(const Job& job, const ParameterStore& store) {
  const TensorSpec norm = final_norm_tensor(job.model);
  const TensorSpec output = output_projection(job.model);
  head_.emplace(job, tp_, store.weight(norm), store.weight(output));
  head_units_ = {store.unit_of(norm), store.unit_of(output)};
}

void Stage::forward(Step& step, Saved& saved) const {
  step.enter(Position::Part::forward, Position::embedding);
  if (first()) {
    traffic_.parameters.require(embedding_unit_);
    if (!blocks_.empty()) traffic_.parameters.prefetch(block_units_.front());
    embedding_->forward(step, saved.input);
  }
  saved.blocks.assign(blocks_.size(), {});
  saved.output = saved.input;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    step.enter(Position::Part::forward, first_layer_ + static_cast<Index>(i));
    traffic_.parameters.require(block_units_[i]);
    prefetch_after(i);
    const Tensor x = saved.output;
    saved.output = step.saved.like(x);
    blocks_[i].forward(step, x, saved.output, saved.blocks[i]);
  }
}

/// The head computes next: its forward is one with its backward.
void Stage::prefetch_after(std::size_t block) const {
  if (block + 1 < blocks_.size()) return traffic_.parameters.prefetch(block_units_[block + 1]);
  for (const std::size_t unit : head_units_) traffic_.parameters.prefetch(unit);
}

void Stage::backward(Step& step, Tensor grad, Tensor loss, Saved& saved,
                     Accumulation accumulation) const {
  if (last()) head_backward(step, grad, loss, saved, accumulation);
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    step.enter(Position::Part::backward, first_layer_ + static_cast<Index>(i));
    traffic_.parameters.require(block_units_[i]);
    if (i > 0) traffic_.parameters.prefetch(block_units_[i - 1]);
    traffic_.gradients.open(block_units_[i]);
    blocks_[i].backward(step, grad, saved.blocks[i]);
    traffic_.gradients.close(block_units_[i], accumulation);
  }
  if (first()) embedding_backward(step, grad, accumulation);
}

void Stage::head_backward(Step& step, Tensor grad, Tensor loss, Saved& saved,
                          Accumulation accumulation) const {
  step.enter(Position::Part::loss, Position::embedding);
  for (const std::size_t unit : head_units_) {
    traffic_.parameters.require(unit);
    traffic_.gradients.open(unit);
  }
  if (!blocks_.empty()) traffic_.parameters.prefetch(block_units_.back());
  head_->forward_backward(step, saved.output, grad, loss);
  for (const std::size_t unit : head_units_) {
    const bool embedding_adds = first() && unit == embedding_unit_;
    if (!embedding_adds) traffic_.gradients.close(unit, accumulation);
  }
}

void Stage::embedding_backward(Step& step, Tensor grad, Accumulation accumulation) const {
  step.enter(Position::Part::backward, Position::embedding);
  traffic_.gradients.open(embedding_unit_);
  embedding_->backward(step, grad);
  traffic_.gradients.close(embedding_unit_, accumulation);
}

}  // namespace cpplan::engine
