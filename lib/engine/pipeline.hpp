#pragma once
// Walks the schedule of one step: micro-batches in, gradients summed, activations and their
// gradients passed between stages. A send is waited for only when its buffer is needed again, so
// that two stages that send to each other never wait in a circle.
#include <functional>
#include <vector>

#include "engine/micro_batch.hpp"
#include "engine/schedule.hpp"
#include "engine/stage.hpp"

namespace cpplan::engine {

using MicroBatchSource = std::function<MicroBatch(int micro_batch)>;

class Pipeline {
 public:
  /// `saved`: an arena for each micro-batch in flight. `loss` f64 [1, 2].
  Pipeline(kernels::Ops&, const Groups&, const Job&, const layout::Coordinates&, const Stage&,
           std::vector<kernels::Arena>& saved, kernels::Arena& scratch, kernels::Arena& inputs,
           Tensor loss);

  /// One step's forwards and backwards; adds to gradients and loss.
  void run(const MicroBatchSource&);

 private:
  struct Slot {
    InputSlot input;
    Stage::Saved saved;
    comm::Work sent;       // the output, on its way to the next stage
    int micro_batch = -1;  // none in flight
  };

  void forward(int micro_batch, const MicroBatchSource&);
  void backward(int micro_batch);
  Slot& slot_of(int micro_batch);
  Step step_in(Slot&, const Batch&);
  comm::Work exchange(comm::Communicator& stages, comm::Message message);

  kernels::Ops& ops_;
  const Groups& groups_;
  const Job& job_;
  layout::Coordinates at_;
  const Stage& stage_;
  std::vector<kernels::Arena>& saved_;
  kernels::Arena& scratch_;
  Tensor loss_;
  Tensor grad_;  // dL/d(output), then dL/d(input), of the micro-batch that goes backward
  comm::Work grad_sent_;
  std::vector<Slot> slots_;
  std::vector<Action> actions_;
};

}  // namespace cpplan::engine
