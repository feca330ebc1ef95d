#include "engine/pipeline.hpp"

namespace cpplan::engine {
using layout::Dim;

Pipeline::Pipeline(kernels::Ops& ops, const Groups& groups, const Job& job,
                   const layout::Coordinates& at, const Stage& stage,
                   std::vector<kernels::Arena>& saved, kernels::Arena& scratch,
                   kernels::Arena& inputs, Tensor loss)
    : ops_(ops),
      groups_(groups),
      job_(job),
      at_(at),
      stage_(stage),
      saved_(saved),
      scratch_(scratch),
      loss_(loss),
      grad_(inputs.make(job.dtype, stage.local_rows(job.capacity), job.model.hidden_size)),
      actions_(one_forward_one_backward(at[Dim::pp], job.dims.pp, job.micro_batches)) {
  expect(std::ssize(saved) == in_flight(actions_), "an arena for each micro-batch in flight");
  slots_.reserve(saved.size());
  for (std::size_t i = 0; i < saved.size(); ++i) {
    slots_.push_back({.input = InputSlot(inputs, job.capacity), .saved = {}, .sent = {}});
  }
}

void Pipeline::run(const MicroBatchSource& source) {
  for (const Action& action : actions_) {
    if (action.kind == Action::Kind::forward) {
      forward(action.micro_batch, source);
    } else {
      backward(action.micro_batch);
    }
  }
  grad_sent_.wait();
}

void Pipeline::forward(int micro_batch, const MicroBatchSource& source) {
  Slot& slot = slot_of(-1);
  slot.micro_batch = micro_batch;
  slot.input.load(ops_, job_, at_[Dim::cp], source(micro_batch));
  const Batch batch = slot.input.batch();
  Step step = step_in(slot, batch);
  step.saved.clear();
  slot.saved.input = step.saved.make(job_.dtype, grad_.rows, grad_.cols);
  const int stage = at_[Dim::pp];
  if (!stage_.first()) {
    exchange(groups_.pp_forward, comm::receive_from(stage - 1, slot.saved.input)).wait();
  }
  stage_.forward(step, slot.saved);
  if (!stage_.last()) {
    slot.sent = exchange(groups_.pp_forward, comm::send_to(stage + 1, slot.saved.output));
  }
}

void Pipeline::backward(int micro_batch) {
  Slot& slot = slot_of(micro_batch);
  const Batch batch = slot.input.batch();
  Step step = step_in(slot, batch);
  const int stage = at_[Dim::pp];
  slot.sent.wait();
  grad_sent_.wait();
  if (!stage_.last()) {
    exchange(groups_.pp_backward, comm::receive_from(stage + 1, grad_)).wait();
  }
  stage_.backward(step, grad_, loss_, slot.saved);
  if (!stage_.first()) {
    grad_sent_ = exchange(groups_.pp_backward, comm::send_to(stage - 1, grad_));
  }
  slot.micro_batch = -1;
}

Pipeline::Slot& Pipeline::slot_of(int micro_batch) {
  for (Slot& slot : slots_) {
    if (slot.micro_batch == micro_batch) return slot;
  }
  contract_broken("the schedule keeps to its slots", std::source_location::current());
}

Step Pipeline::step_in(Slot& slot, const Batch& batch) {
  const auto number = static_cast<std::size_t>(&slot - slots_.data());
  return {ops_, groups_, batch, saved_[number], scratch_};
}

comm::Work Pipeline::exchange(comm::Communicator& stages, comm::Message message) {
  return stages.exchange({&message, 1});
}

}  // namespace cpplan::engine
