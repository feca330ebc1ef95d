#include "engine/evaluator.hpp"

#include <algorithm>

#include "engine/meta_run.hpp"

namespace cpplan::engine {
namespace {

kernels::Arena arena_of(kernels::Ops& ops, Bytes bytes) {
  return {ops.allocate(bytes), bytes};
}

}  // namespace

/// A training step needs more of every arena.
Evaluator::Evaluator(kernels::Ops& ops, const Groups& groups, const Job& job)
    : ops_(ops),
      groups_(groups),
      job_(job),
      memory_(meta_run(job, {}).memory),
      parameters_(arena_of(ops, memory_.parameters)),
      gradients_(arena_of(ops, memory_.gradients)),
      states_(arena_of(ops, memory_.optimizer)),
      gathered_(arena_of(ops, memory_.gathered)),
      saved_(arena_of(ops, memory_.saved.front())),
      scratch_(arena_of(ops, memory_.scratch)),
      rebuilt_(arena_of(ops, memory_.rebuilt)),
      inputs_(arena_of(ops, memory_.inputs)),
      store_(ops, job, {}, {parameters_, gradients_, states_, gathered_}),
      owned_(store_.owned()),
      gathering_(groups, job, store_),
      reduction_(ops, groups, job, store_),
      stage_(job_, 0, store_, {gathering_, reduction_}),
      slot_(inputs_, job.capacity) {
  expect(job.dims.world() == 1 && job.micro_batches == 1, "one rank evaluates one micro-batch");
  expect(job.dtype == kernels::DType::f32, "logits are read in fp32");
}

Evaluation Evaluator::evaluate(const MicroBatch& samples) {
  saved_.clear();
  slot_.load(ops_, job_, 0, samples);
  const Batch batch = slot_.batch();
  Step step{ops_, groups_, batch, saved_, scratch_, rebuilt_};
  kernels::Arena::Scope scope(scratch_);
  Stage::Saved saved;
  saved.input = saved_.make(job_.dtype, job_.capacity, job_.model.hidden_size);
  stage_.forward(step, saved);
  const Tensor logits = logits_of(step, saved.output);
  Evaluation result;
  result.logits.resize(static_cast<std::size_t>(logits.elements()));
  ops_(kernels::Download{logits, result.logits.data()});
  kernels::Arena::Scope loss_scope(inputs_);
  const Tensor loss = inputs_.make(kernels::DType::f64, 1, 2);
  add_loss(step, logits, loss);
  double sums[2] = {};
  ops_(kernels::Download{loss, sums});
  result.tokens = static_cast<Index>(sums[1]);
  result.loss = sums[0] / std::max(1.0, sums[1]);
  return result;
}

Tensor Evaluator::logits_of(Step& step, Tensor hidden) const {
  const Tensor normed = step.scratch.like(hidden);
  const Tensor rstd = step.scratch.make(kernels::DType::f32, hidden.rows, 1);
  step.ops(kernels::RmsNorm{hidden, store_.weight(final_norm_tensor(job_.model)).value, normed,
                            rstd, job_.model.rms_norm_eps});
  const Weight output = store_.weight(output_projection(job_.model));
  const Tensor logits = step.scratch.make(kernels::DType::f32, hidden.rows, output.value.rows);
  linear(step, normed, output, logits);
  return logits;
}

void Evaluator::add_loss(Step& step, Tensor logits, Tensor loss) const {
  const Index columns = job_.model.vocab_size;
  const Tensor max = step.scratch.make(logits.dtype, logits.rows, 1);
  const Tensor stats = step.scratch.make(logits.dtype, logits.rows, 2);
  step.ops(kernels::Fill{loss, 0.0});
  step.ops(kernels::RowMax{logits, max, columns});
  step.ops(kernels::SumExp{logits, max, step.batch.labels, stats, 0, columns});
  step.ops(kernels::LossSum{max, stats, step.batch.labels, loss});
}

}  // namespace cpplan::engine
