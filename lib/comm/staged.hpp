#pragma once
// Groups whose tensors are in the memory of devices, over a transport of the host: for ranks that
// share a GPU, and where there is no NCCL. What is sent is copied to pinned memory when a transfer
// starts, which the host waits for; what arrives is copied to the device when it is waited for,
// which it does not. Sums, bytes and failures are those of the host's transport, bit for bit.
#include <list>
#include <memory>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/endpoint.hpp"
#include "kernels/device.hpp"

namespace cpplan::comm {

/// Pinned memory of a rank, in blocks that are used again.
class PinnedBlocks {
 public:
  explicit PinnedBlocks(kernels::Device& device) : device_(device) {}

  struct Block {
    std::byte* data = nullptr;
    Bytes size;
    kernels::Event copied;  // to the device: before it, the block is still read
    bool taken = false;
  };
  /// The smallest free block that is large enough, or a new one.
  Block& take(Bytes);
  /// Free when what the stream has been told so far is done.
  void give_back(Block&, kernels::Stream);

 private:
  kernels::Device& device_;
  std::list<Block> blocks_;
};

/// `host`: the same group on the host, of an endpoint that outlives it. The trace of `host` should
/// be one that nobody reads: the transfer is told to `trace`, once.
std::unique_ptr<Communicator> make_staged_communicator(kernels::Device&, PinnedBlocks&, Endpoint&,
                                                       std::unique_ptr<Communicator> host,
                                                       kernels::Trace&);

}  // namespace cpplan::comm
