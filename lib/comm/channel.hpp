#pragma once
// All that a transport must be able to do for one group: move bytes between two ranks of it. The
// collectives are ours (ring.hpp), so that every transport sums in the same order.
#include <cstddef>
#include <memory>
#include <span>

namespace cpplan::comm {

/// A message under way. Destroyed early, its receive is called off.
class Request {
 public:
  virtual ~Request() = default;
  virtual bool done() = 0;
};

class Channel {
 public:
  virtual ~Channel() = default;
  /// `peer` is a rank of the group. Between two ranks, messages of one tag match in the order of
  /// these calls, and must be of equal size. `bytes` live until the request is done or destroyed.
  virtual std::unique_ptr<Request> send(int peer, int tag, std::span<const std::byte> bytes) = 0;
  virtual std::unique_ptr<Request> receive(int peer, int tag, std::span<std::byte> bytes) = 0;
};

/// Tags go from 0 to here: what MPI guarantees.
inline constexpr int last_tag = 32767;

}  // namespace cpplan::comm
