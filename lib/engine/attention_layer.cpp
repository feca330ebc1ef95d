#include "engine/attention_layer.hpp"

#include <cmath>

#include "engine/as_type.hpp"

namespace cpplan::engine {
namespace {

constexpr std::uint32_t attention_site = 1;  // of the four dropout sites of a layer

kernels::Band band_of(const Job& job) {
  if (job.attention_window == 0) return kernels::causal;
  return kernels::sliding_window(job.attention_window);
}

AttentionShape shape_of(const model::ModelSpec& model, const Weight& q, const Weight& k) {
  return {.heads = q.value.rows / model.head_dim,
          .kv_heads = k.value.rows / model.head_dim,
          .head_dim = model.head_dim,
          .dtype = q.value.dtype};
}

}  // namespace

AttentionLayer::AttentionLayer(const Job& job, const TensorParallel& tp,
                               const LayerTensors& tensors, Index layer,
                               const ParameterStore& store)
    : norm_(store.weight(tensors.attention_norm)),
      q_(store.weight(tensors.q)),
      k_(store.weight(tensors.k)),
      v_(store.weight(tensors.v)),
      o_(store.weight(tensors.o)),
      branch_(job, tp, norm_, static_cast<std::uint32_t>(4 * layer) + attention_site),
      attention_(job, layer, shape_of(job.model, q_, k_)),
      head_dim_(job.model.head_dim),
      layer_(layer),
      band_(band_of(job)),
      rotation_(rotation_of(job.model)),
      dropout_rate_(job.model.attention_dropout),
      dropout_key_(random_key(job.seed, "dropout/attention")) {}

void AttentionLayer::forward(Step& step, Tensor x, Tensor y, Saved& saved) const {
  kernels::Arena::Scope scope(step.scratch);
  const Tensor input = branch_.enter(step, x, saved.branch);
  const auto inputs = attention_.prepare(step, input.rows, saved.attention);
  project(step, input, inputs);
  attention_.forward(step, settings(step), inputs, saved.attention);
  branch_.leave(step, saved.branch, y,
                [&](Tensor partial) { linear(step, saved.attention.out, o_, partial); });
}

void AttentionLayer::backward(Step& step, Tensor grad, Saved& saved) const {
  kernels::Arena::Scope scope(step.scratch);
  const Tensor out = saved.attention.out;
  const Tensor dbranch = branch_.enter_backward(step, grad);
  linear_weight_gradient(step, dbranch, out, o_);
  const Tensor dout = step.scratch.like(out);
  linear_input_gradient(step, dbranch, o_, dout, Into::overwrite);
  const auto sums = kernels::accumulator(out.dtype);
  const Tensor dq = step.scratch.make(sums, out.rows, out.cols);
  const Tensor dkv = step.scratch.make(sums, out.rows, 2 * k_.value.rows);
  attention_.backward(step, settings(step), dout, {dq, dkv}, saved.attention);
  rotate(step, dq, keys(dkv), true);
  const ParallelAttention::Inputs gradients{as_type(step, dq, out.dtype),
                                            as_type(step, dkv, out.dtype)};
  const Tensor input = branch_.input(step, saved.branch);
  branch_.leave_backward(step, saved.branch, grad, [&](Tensor partial) {
    project_backward(step, gradients, input, partial);
  });
}

void AttentionLayer::project(Step& step, Tensor x, const ParallelAttention::Inputs& t) const {
  linear(step, x, q_, t.q);
  linear(step, x, k_, keys(t.kv));
  linear(step, x, v_, values(t.kv));
  rotate(step, t.q, keys(t.kv), false);
}

void AttentionLayer::rotate(Step& step, Tensor q, Tensor k, bool inverse) const {
  for (const Tensor& x : {q, k}) {
    step.ops(kernels::Rope{.x = x,
                           .positions = step.batch.positions,
                           .frequencies = rotation_.frequencies,
                           .magnitude = rotation_.magnitude,
                           .inverse = inverse});
  }
}

void AttentionLayer::project_backward(Step& step, const ParallelAttention::Inputs& gradients,
                                      Tensor x, Tensor dx) const {
  const Tensor dq = gradients.q, dk = keys(gradients.kv), dv = values(gradients.kv);
  linear_weight_gradient(step, dq, x, q_);
  linear_weight_gradient(step, dk, x, k_);
  linear_weight_gradient(step, dv, x, v_);
  linear_input_gradient(step, dq, q_, dx, Into::overwrite);
  linear_input_gradient(step, dk, k_, dx, Into::add);
  linear_input_gradient(step, dv, v_, dx, Into::add);
}

AttentionSettings AttentionLayer::settings(const Step& step) const {
  const Index heads = q_.value.rows / head_dim_;
  return {.head_dim = head_dim_,
          .first_head = step.groups.tp.rank() * heads,
          .band = band_,
          .scale = 1 / std::sqrt(static_cast<double>(head_dim_)),
          .dropout = {.key = dropout_key_,
                      .site = static_cast<std::uint32_t>(layer_),
                      .first_sample = step.batch.first_sample,
                      .rate = dropout_rate_}};
}

}  // namespace cpplan::engine
