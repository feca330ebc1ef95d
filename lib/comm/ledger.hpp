#pragma once
// What a rank has handed to its transport, counted at the hand-over: the figure that the plan's
// sent_bytes() is held against.
#include <map>
#include <string>
#include <utility>

#include "comm/communicator.hpp"

namespace cpplan::comm {

struct Posted {
  Bytes bytes;
  Index messages = 0;
  friend bool operator==(const Posted&, const Posted&) = default;
};

/// By name of the group and of the collective, as the trace has them.
using Ledger = std::map<std::pair<std::string, std::string>, Posted>;

}  // namespace cpplan::comm
