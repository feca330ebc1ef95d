#include "comm/endpoint.hpp"

#include <fmt/format.h>

#include "base/failure.hpp"

namespace cpplan::comm {
namespace {

[[noreturn]] void fail_late(const Ongoing& transfer, std::chrono::milliseconds deadline) {
  const auto [peer, operation] = transfer.awaited();
  throw Failure(
      fmt::format("{} did not answer within {:g} s ({}). If it is only slow, a longer "
                  "--timeout helps",
                  peer, std::chrono::duration<double>(deadline).count(), operation));
}

}  // namespace

void Endpoint::progress() {
  for (Ongoing* transfer : ongoing_) transfer->advance();
}

void Endpoint::wait_for(Ongoing& transfer) {
  const auto until = Clock::now() + deadline_;
  while (!transfer.advance()) {
    check();
    progress();
    if (Clock::now() >= until) fail_late(transfer, deadline_);
    pause(until);
  }
}

void Endpoint::count(std::string_view group, Collective collective, Bytes bytes) {
  Posted& entry = posted_[{std::string(group), std::string(name_of(collective))}];
  entry.bytes += bytes;
  ++entry.messages;
}

}  // namespace cpplan::comm
