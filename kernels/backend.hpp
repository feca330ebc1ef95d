#pragma once
// What a backend (cpu, meta, cuda, the fp64 reference of the tests) implements: one run() for each
// op of the list. Leaving one out does not compile.
#include "kernels/ops.hpp"

namespace cpplan::kernels {
class Device;

template <class Op>
struct Runs {
  virtual ~Runs() = default;
  virtual void run(const Op&) = 0;
};
template <class... Op>
struct RunsAll : Runs<Op>... {
  using Runs<Op>::run...;
  /// Calls f.template operator()<Op>() for every op: tests print which backend is tested for which.
  template <class F>
  static void each(F&& f) {
    (f.template operator()<Op>(), ...);
  }
};

using AllOps = RunsAll<Gemm, RmsNorm, RmsNormBackward, Rope, Attention, AttentionBackward, SwiGlu,
                       SwiGluBackward, DropoutAdd, DropoutBackward, Embed, EmbedBackward, RowMax,
                       SumExp, LossSum, CrossEntropyBackward, SquaredNorm, AdamW, Fill, Copy, Add,
                       Normal, Upload, Download>;

class Ops : public AllOps {
 public:
  explicit Ops(Trace& trace) : trace_(trace) {}

  template <class Op>
  void operator()(const Op& op) {
    op.check();
    trace_.compute(Op::name, op.cost());
    this->run(op);
  }

  /// Memory for one arena, aligned to Arena::alignment, freed with the backend. Once, at the start.
  /// Throws Failure when the device has no more.
  virtual std::byte* allocate(Bytes) = 0;

  /// The device whose memory that is; none where it is the host's.
  virtual Device* device() { return nullptr; }

 private:
  Trace& trace_;
};

}  // namespace cpplan::kernels
