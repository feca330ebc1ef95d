#include "engine/attention_layer.hpp"

#include <cmath>

namespace cpplan::engine {
namespace {

constexpr std::uint32_t attention_site = 1;  // of the four dropout sites of a layer

}  // namespace

AttentionLayer::AttentionLayer(const Job& job, const TensorParallel& tp,
                               const LayerTensors& tensors, Index layer, ParameterStore& store)
    : norm_(store.add(tensors.attention_norm)),
      q_(store.add(tensors.q)),
      k_(store.add(tensors.k)),
      v_(store.add(tensors.v)),
      o_(store.add(tensors.o)),
      branch_(job, tp, norm_, static_cast<std::uint32_t>(4 * layer) + attention_site),
      head_dim_(job.model.head_dim),
      layer_(layer),
      theta_(job.model.rope_theta),
      dropout_rate_(job.model.attention_dropout),
      dropout_key_(random_key(job.seed, "dropout/attention")) {}

void AttentionLayer::forward(Step& step, Tensor x, Tensor y, Saved& saved) const {
  kernels::Arena::Scope scope(step.scratch);
  const Tensor input = branch_.enter(step, x, saved.branch);
  saved.attention = save(step, input.rows);
  project(step, input, saved.attention);
  context_parallel_.forward(step, settings(step), saved.attention);
  branch_.leave(step, saved.branch, y,
                [&](Tensor partial) { linear(step, saved.attention.out, o_, partial); });
}

void AttentionLayer::backward(Step& step, Tensor grad, Saved& saved) const {
  kernels::Arena::Scope scope(step.scratch);
  const AttentionTensors& t = saved.attention;
  const Tensor dbranch = branch_.enter_backward(step, grad);
  linear_weight_gradient(step, dbranch, t.out, o_);
  const AttentionGradients g{.dout = step.scratch.like(t.out),
                             .dq = step.scratch.like(t.out),
                             .dkv = step.scratch.make(t.out.dtype, t.kv.rows, t.kv.cols)};
  linear_input_gradient(step, dbranch, o_, g.dout, Into::overwrite);
  context_parallel_.backward(step, settings(step), t, g);
  rotate(step, g.dq, g.dkv.col_range(0, t.kv.cols / 2), true);
  const Tensor input = branch_.input(step, saved.branch);
  branch_.leave_backward(step, saved.branch, grad,
                         [&](Tensor partial) { project_backward(step, g, input, partial); });
}

AttentionTensors AttentionLayer::save(Step& step, Index rows) const {
  const auto dtype = q_.value.dtype, sums = kernels::accumulator(dtype);
  const Index width = q_.value.rows, kv_width = k_.value.rows;
  return {.q = step.saved.make(dtype, rows, width),
          .kv = step.saved.make(dtype, rows, 2 * kv_width),
          .out = step.saved.make(sums, rows, width),
          .lse = step.saved.make(sums, rows, width / head_dim_)};
}

void AttentionLayer::project(Step& step, Tensor x, const AttentionTensors& t) const {
  const Index width = k_.value.rows;
  const Tensor k = t.kv.col_range(0, width);
  linear(step, x, q_, t.q);
  linear(step, x, k_, k);
  linear(step, x, v_, t.kv.col_range(width, width));
  rotate(step, t.q, k, false);
}

void AttentionLayer::rotate(Step& step, Tensor q, Tensor k, bool inverse) const {
  for (const Tensor& x : {q, k}) {
    step.ops(kernels::Rope{.x = x,
                           .positions = step.batch.positions,
                           .head_dim = head_dim_,
                           .theta = theta_,
                           .inverse = inverse});
  }
}

void AttentionLayer::project_backward(Step& step, const AttentionGradients& g, Tensor x,
                                      Tensor dx) const {
  const Index width = k_.value.rows;
  const Tensor dk = g.dkv.col_range(0, width), dv = g.dkv.col_range(width, width);
  linear_weight_gradient(step, g.dq, x, q_);
  linear_weight_gradient(step, dk, x, k_);
  linear_weight_gradient(step, dv, x, v_);
  linear_input_gradient(step, g.dq, q_, dx, Into::overwrite);
  linear_input_gradient(step, dk, k_, dx, Into::add);
  linear_input_gradient(step, dv, v_, dx, Into::add);
}

AttentionSettings AttentionLayer::settings(const Step& step) const {
  const Index heads = q_.value.rows / head_dim_;
  return {.head_dim = head_dim_,
          .first_head = step.groups.tp.rank() * heads,
          .scale = 1 / std::sqrt(static_cast<double>(head_dim_)),
          .dropout = {.key = dropout_key_,
                      .site = static_cast<std::uint32_t>(layer_),
                      .first_sample = step.batch.first_sample,
                      .rate = dropout_rate_}};
}

}  // namespace cpplan::engine
