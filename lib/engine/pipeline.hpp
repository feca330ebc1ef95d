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

/// `saved`: one for each micro-batch in flight.
struct PipelineArenas {
  std::vector<kernels::Arena>& saved;
  kernels::Arena &scratch, &rebuilt, &inputs;
};

class Pipeline {
 public:
  /// `chunks`: the virtual stages of this rank, in their order. `loss` f64 [1, 2].
  Pipeline(kernels::Ops&, const Groups&, const Job&, const layout::Coordinates&,
           const std::vector<Stage>& chunks, const PipelineArenas&, Tensor loss);

  /// One step's forwards and backwards; adds to gradients and loss.
  void run(const MicroBatchSource&);
  /// Where in the step the rank is.
  const Position& position() const { return position_; }

 private:
  struct Slot {
    InputSlot input;
    Stage::Saved saved;
    comm::Work sent;  // the output, on its way to the next stage
    int chunk = 0, micro_batch = none;
  };
  static constexpr int none = -1;  // no micro-batch in flight
  /// dL/d(output), then dL/d(input), of the micro-batch that goes backward.
  struct Gradient {
    Tensor value;
    comm::Work sent;  // on its way to the previous stage
  };

  void forward(const Action&, const MicroBatchSource&);
  void backward(const Action&);
  Slot& free_slot();
  Slot& slot_of(const Action&);
  /// Pipeline stages before and after this one; the chunks form a ring.
  int previous() const { return (at_[layout::Dim::pp] + job_.dims.pp - 1) % job_.dims.pp; }
  int next() const { return (at_[layout::Dim::pp] + 1) % job_.dims.pp; }
  Step step_in(Slot&, const Batch&);
  comm::Work exchange(comm::Communicator& stages, comm::Message message);

  kernels::Ops& ops_;
  const Groups& groups_;
  const Job& job_;
  layout::Coordinates at_;
  const std::vector<Stage>& chunks_;
  PipelineArenas arenas_;
  Tensor loss_;
  std::vector<Gradient> gradients_;  // one a chunk: two stages can owe each other one of each
  std::vector<Slot> slots_;
  std::vector<Action> actions_;
  Position position_;
};

}  // namespace cpplan::engine
