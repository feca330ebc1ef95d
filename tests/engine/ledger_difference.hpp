#pragma once
// What a rank posted in a part of its run.
#include "comm/ledger.hpp"

namespace cpplan::test {

inline comm::Ledger difference(comm::Ledger after, const comm::Ledger& before) {
  for (const auto& [key, posted] : before) {
    comm::Posted& left = after[key];
    left.bytes = left.bytes - posted.bytes;
    left.messages -= posted.messages;
    if (left == comm::Posted{}) after.erase(key);
  }
  return after;
}

}  // namespace cpplan::test
