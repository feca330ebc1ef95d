#pragma once
// Bytes of the host from one rank of the world to another, in parts and by way of the device's
// memory.
#include <functional>
#include <span>
#include <vector>

#include "train/rank_loop.hpp"

namespace cpplan::train {

class ByteChannel {
 public:
  /// Makes its room, once: device memory is freed with the backend.
  explicit ByteChannel(const Rank&);

  /// The two ends agree on the number of bytes.
  void send(int to, std::span<const std::byte> bytes);
  /// `take` gets them part by part.
  void receive(int from, Index bytes, const std::function<void(std::span<const std::byte>)>& take);

 private:
  kernels::Tensor words_of(std::size_t bytes) const;
  void pass(const comm::Message&);

  const Rank& rank_;
  std::byte* device_;
  std::vector<std::byte> host_;
};

}  // namespace cpplan::train
