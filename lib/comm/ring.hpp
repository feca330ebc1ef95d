#pragma once
// The four collectives as steps of messages: a pure function of the transfer, so that every
// transport does the same arithmetic in the same order. In a ring of n ranks each sends to the
// next; a sum over chunk c starts on rank c + 1 and ends on rank c.
#include <memory>
#include <vector>

#include "comm/communicator.hpp"

namespace cpplan::comm {

/// The messages of a step start together. When all are through, into = reduce(received, own),
/// unless `into` is empty.
struct Step {
  std::vector<Message> messages;
  Tensor into, received, own;
};

struct Schedule {
  std::vector<Step> steps;
  std::unique_ptr<std::byte[]> staging;  // where partial sums arrive
};

/// What rank `rank` of `size` >= 2 has to do. An all-gather's own block is in place already.
Schedule schedule(const Transfer&, int rank, int size);

}  // namespace cpplan::comm
