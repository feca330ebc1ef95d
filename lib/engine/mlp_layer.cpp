#include "engine/mlp_layer.hpp"

namespace cpplan::engine {
namespace {

constexpr std::uint32_t mlp_site = 2;  // of the four dropout sites of a layer

}  // namespace

MlpLayer::MlpLayer(const Job& job, const TensorParallel& tp, const LayerTensors& tensors,
                   Index layer, const ParameterStore& store)
    : norm_(store.weight(tensors.mlp_norm)),
      gate_(store.weight(tensors.gate)),
      up_(store.weight(tensors.up)),
      down_(store.weight(tensors.down)),
      branch_(job, tp, norm_, static_cast<std::uint32_t>(4 * layer) + mlp_site),
      product_again_(job.recompute == Recompute::selective) {}

void MlpLayer::forward(Step& step, Tensor x, Tensor y, Saved& saved) const {
  kernels::Arena::Scope scope(step.scratch);
  const Tensor input = branch_.enter(step, x, saved.branch);
  const Index width = gate_.value.rows;
  saved.gate_up = step.saved.make(x.dtype, input.rows, 2 * width);
  linear(step, input, gate_, saved.gate_up.col_range(0, width));
  linear(step, input, up_, saved.gate_up.col_range(width, width));
  const Tensor product = multiply(step, product_again_ ? step.scratch : step.saved, saved);
  if (!product_again_) saved.product = product;
  branch_.leave(step, saved.branch, y,
                [&](Tensor partial) { linear(step, product, down_, partial); });
}

void MlpLayer::backward(Step& step, Tensor grad, Saved& saved) const {
  kernels::Arena::Scope scope(step.scratch);
  const Tensor dbranch = branch_.enter_backward(step, grad);
  const Tensor product = product_again_ ? multiply(step, step.scratch, saved) : saved.product;
  linear_weight_gradient(step, dbranch, product, down_);
  const Tensor dproduct = step.scratch.like(product);
  const Tensor dgate_up = step.scratch.like(saved.gate_up);
  linear_input_gradient(step, dbranch, down_, dproduct, Into::overwrite);
  step.ops(kernels::SwiGluBackward{.gate_up = saved.gate_up, .dy = dproduct, .dgate_up = dgate_up});
  const Tensor input = branch_.input(step, saved.branch);
  branch_.leave_backward(step, saved.branch, grad,
                         [&](Tensor partial) { expand_backward(step, dgate_up, input, partial); });
}

Tensor MlpLayer::multiply(Step& step, kernels::Arena& arena, const Saved& saved) const {
  const Tensor product = arena.make(saved.gate_up.dtype, saved.gate_up.rows, gate_.value.rows);
  step.ops(kernels::SwiGlu{.gate_up = saved.gate_up, .y = product});
  return product;
}

void MlpLayer::expand_backward(Step& step, Tensor dgate_up, Tensor x, Tensor dx) const {
  const Index width = gate_.value.rows;
  const Tensor dgate = dgate_up.col_range(0, width), dup = dgate_up.col_range(width, width);
  linear_weight_gradient(step, dgate, x, gate_);
  linear_weight_gradient(step, dup, x, up_);
  linear_input_gradient(step, dgate, gate_, dx, Into::overwrite);
  linear_input_gradient(step, dup, up_, dx, Into::add);
}

}  // namespace cpplan::engine
