#include "engine/pipeline.hpp"

namespace cpplan::engine {
using layout::Dim;

Pipeline::Pipeline(kernels::Ops& ops, const Groups& groups, const Job& job,
                   const layout::Coordinates& at, const std::vector<Stage>& chunks,
                   const PipelineArenas& arenas, Tensor loss)
    : ops_(ops),
      groups_(groups),
      job_(job),
      at_(at),
      chunks_(chunks),
      arenas_(arenas),
      loss_(loss),
      actions_(schedule_of(at[Dim::pp], job.dims.pp, job.virtual_stages, job.micro_batches)) {
  expect(std::ssize(arenas.saved) == in_flight(actions_), "an arena for each in flight");
  const Index rows = chunks.front().local_rows(job.capacity);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    gradients_.push_back({arenas.inputs.make(job.dtype, rows, job.model.hidden_size), {}});
  }
  slots_.reserve(arenas.saved.size());
  for (std::size_t i = 0; i < arenas.saved.size(); ++i) {
    slots_.push_back({.input = InputSlot(arenas.inputs, job.capacity), .saved = {}, .sent = {}});
  }
}

void Pipeline::run(const MicroBatchSource& source) {
  for (const Action& action : actions_) {
    if (action.kind == Action::Kind::forward) {
      forward(action, source);
    } else {
      backward(action);
    }
  }
  for (Gradient& gradient : gradients_) gradient.sent.wait();
  position_ = {};
}

void Pipeline::forward(const Action& action, const MicroBatchSource& source) {
  const Stage& stage = chunks_[action.chunk];
  Slot& slot = free_slot();
  slot.chunk = action.chunk, slot.micro_batch = action.micro_batch;
  slot.input.load(ops_, job_, at_[Dim::cp], source(action.micro_batch));
  const Batch batch = slot.input.batch();
  Step step = step_in(slot, batch);
  step.saved.clear();
  slot.saved.input = step.saved.like(gradients_.front().value);
  if (!stage.first()) {
    exchange(groups_.pp_forward, comm::receive_from(previous(), slot.saved.input)).wait();
  }
  stage.forward(step, slot.saved);
  if (!stage.last()) {
    slot.sent = exchange(groups_.pp_forward, comm::send_to(next(), slot.saved.output));
  }
}

void Pipeline::backward(const Action& action) {
  const Stage& stage = chunks_[action.chunk];
  Slot& slot = slot_of(action);
  const Batch batch = slot.input.batch();
  Step step = step_in(slot, batch);
  Gradient& gradient = gradients_[action.chunk];
  slot.sent.wait();
  gradient.sent.wait();
  if (!stage.last()) {
    exchange(groups_.pp_backward, comm::receive_from(next(), gradient.value)).wait();
  }
  const bool last = action.micro_batch + 1 == job_.micro_batches;
  stage.backward(step, gradient.value, loss_, slot.saved,
                 last ? Accumulation::complete : Accumulation::more);
  if (!stage.first()) {
    gradient.sent = exchange(groups_.pp_backward, comm::send_to(previous(), gradient.value));
  }
  slot.micro_batch = none;
}

Pipeline::Slot& Pipeline::free_slot() {
  for (Slot& slot : slots_) {
    if (slot.micro_batch == none) return slot;
  }
  contract_broken("the schedule keeps to its slots", std::source_location::current());
}

Pipeline::Slot& Pipeline::slot_of(const Action& action) {
  for (Slot& slot : slots_) {
    if (slot.chunk == action.chunk && slot.micro_batch == action.micro_batch) return slot;
  }
  contract_broken("what goes backward went forward", std::source_location::current());
}

Step Pipeline::step_in(Slot& slot, const Batch& batch) {
  const auto number = static_cast<std::size_t>(&slot - slots_.data());
  position_.micro_batch = slot.micro_batch;
  return {ops_,
          groups_,
          batch,
          arenas_.saved[number],
          arenas_.scratch,
          arenas_.rebuilt,
          &position_,
          job_.weight_gradients};
}

comm::Work Pipeline::exchange(comm::Communicator& stages, comm::Message message) {
  return stages.exchange({&message, 1});
}

}  // namespace cpplan::engine
