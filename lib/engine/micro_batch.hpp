#pragma once
// The samples of a micro-batch, and this rank's rows of them on the device.
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/job.hpp"
#include "engine/layer.hpp"

namespace cpplan::engine {

/// The samples of one micro-batch, in sample order and without padding; labels below 0 are ignored.
/// The same on every TP, CP and PP rank; the engine takes its own rows. Without tokens (a meta run)
/// nothing is uploaded.
struct MicroBatch {
  std::vector<layout::DocumentLength> documents;
  std::vector<std::int32_t> tokens, labels;
  std::uint32_t first_sample = 0;  // global number of sample 0
};

/// Room on the device for the inputs of one micro-batch in flight.
class InputSlot {
 public:
  InputSlot(kernels::Arena& inputs, Index capacity);

  /// Lays the micro-batch out over the CP ranks, takes the rows of `cp_rank` and uploads them.
  void load(kernels::Ops&, const Job&, int cp_rank, const MicroBatch&);
  /// Of the micro-batch that was loaded last.
  Batch batch() const { return {*map_, tokens_, labels_, positions_, rows_, first_sample_}; }

 private:
  void upload(kernels::Ops&, int cp_rank, const MicroBatch&);

  Tensor tokens_, labels_, positions_, rows_;
  std::unique_ptr<layout::SequenceMap> map_;
  std::uint32_t first_sample_ = 0;
  std::vector<std::int32_t> host_;  // staging: tokens, labels, positions, rows
};

}  // namespace cpplan::engine
