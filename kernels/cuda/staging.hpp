#pragma once
// Between the host's ordinary memory and a device: two pieces of pinned memory, of which one is
// filled or emptied while the other travels.
#include <array>

#include "kernels/cuda/runtime.hpp"

namespace cpplan::kernels::cuda {

class Staging {
 public:
  /// `from` may be changed when the call returns; the device has it when its turn comes.
  void upload(void* device, const void* from, Bytes bytes, const Stream& stream);
  /// Waits for what the stream was told before; `to` is complete when the call returns.
  void download(void* to, const void* device, Bytes bytes, const Stream& stream);

 private:
  static constexpr Bytes piece_bytes{1 << 20};

  struct Piece {
    PinnedMemory memory{piece_bytes};
    Event travelled;
  };
  /// The piece that has waited longest, once nothing of it is under way.
  Piece& next();

  std::array<Piece, 2> pieces_;
  std::size_t turn_ = 0;
};

}  // namespace cpplan::kernels::cuda
