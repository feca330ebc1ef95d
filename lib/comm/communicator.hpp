#pragma once
// One rank's end of one group. The public functions check shapes, number the transfer and tell the
// trace; a transport (mpi, threads, meta; nccl) implements start(). Sums are taken in fp32 or
// better and in an order of ranks fixed by the group's size, the same on every transport; what
// travels has the tensor's type, so a partial sum of bf16 is rounded at every hop.
#include <memory>
#include <span>
#include <string_view>

#include "comm/work.hpp"
#include "kernels/tensor.hpp"
#include "kernels/trace.hpp"

namespace cpplan::comm {
using kernels::Tensor;

enum class Collective : std::uint8_t { exchange, all_gather, reduce_scatter, all_reduce };
enum class Reduce : std::uint8_t { sum, max };  // a NaN wins either
std::string_view name_of(Collective);

/// Half of a point-to-point transfer. Those of one exchange() start together and need no order
/// (ncclGroup, Isend/Irecv). The messages between two ranks of a group match in the order of calls.
struct Message {
  enum class Way : std::uint8_t { send, receive } way;
  int peer;  // rank in the group
  Tensor buffer;
  bool sends() const { return way == Way::send; }
};
inline Message send_to(int peer, Tensor t) {
  return {Message::Way::send, peer, t};
}
inline Message receive_from(int peer, Tensor t) {
  return {Message::Way::receive, peer, t};
}

struct Transfer {
  Collective collective;
  // all_gather: shard -> whole; reduce_scatter: whole -> shard; all_reduce: in == out
  Tensor in, out;
  std::span<const Message> messages;  // exchange (ring step, pipeline, all-to-all)
  Reduce reduce = Reduce::sum;
};

/// Bytes this rank puts on the wire: what the plan says. Transports count what they post.
Bytes sent_bytes(const Transfer&, int rank, int size);
/// Messages that carry them, as the ring of ring.hpp has them; empty ones are not posted.
Index sent_messages(const Transfer&, int rank, int size);

/// Elements of an all-reduce that the ring calls chunk i of `size`.
struct Chunk {
  Index first, count;
};
constexpr Chunk chunk(Index elements, int i, int size) {
  const Index first = elements * i / size;
  return {first, elements * (i + 1) / size - first};
}

class Communicator {
 public:
  /// `group`: "tp", "cp", "pp", "dp_cp", "world": the name under which plan and run count.
  Communicator(std::string_view group, int rank, int size, kernels::Trace& trace)
      : group_(group), rank_(rank), size_(size), trace_(trace) {}
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  std::string_view group() const { return group_; }
  /// Sets communicators of one rank apart in its trace, where they share a name.
  void set_number(int number) { number_ = number; }

  Work exchange(std::span<const Message> messages);
  /// shard [n, c] of rank r becomes rows r*n ... of whole [n * size, c].
  Work all_gather(Tensor shard, Tensor whole);
  /// Sum over ranks of whole [n * size, c]; rank r keeps rows r*n ... in shard [n, c].
  Work reduce_scatter(Tensor whole, Tensor shard);
  /// In place; t contiguous. Bit-equal on all ranks.
  Work all_reduce(Tensor t, Reduce reduce = Reduce::sum);

 protected:
  /// Called for groups of two and more. Buffers stay untouched until the Work is waited for.
  virtual std::unique_ptr<Work::Pending> start(const Transfer&) = 0;
  /// What a gather or scatter is in a group of one. Rows of host memory, unless a transport's
  /// tensors live elsewhere.
  virtual void copy(const Tensor& from, const Tensor& to);

 private:
  Work launch(const Transfer&);

  std::string_view group_;
  int rank_, size_;
  kernels::Trace& trace_;
  int number_ = 0;
};

}  // namespace cpplan::comm
