#include "comm/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/failure.hpp"

namespace cpplan::comm {
namespace {

/// A stream of the device is through some microseconds after we look.
constexpr std::chrono::microseconds between_polls(50);

}  // namespace

std::string late(const Ongoing::Awaited& awaited, std::chrono::milliseconds deadline) {
  return fmt::format(
      "{} did not answer within {:g} s ({}). If it is only slow, a longer --timeout helps",
      awaited.peer, std::chrono::duration<double>(deadline).count(), awaited.operation);
}

void Endpoint::progress() {
  for (Ongoing* transfer : ongoing_) transfer->advance();
}

void Endpoint::wait_for(Ongoing& transfer) {
  const auto until = Clock::now() + deadline_;
  if (alarm_) alarm_();
  while (!transfer.advance()) {
    check_all();
    progress();
    const auto now = Clock::now();
    if (now >= until) throw Failure(late(transfer.awaited(), deadline_));
    pause(transfer.polled() ? std::min(until, now + between_polls) : until);
  }
}

void Endpoint::check_all() {
  check();
  if (alarm_) alarm_();
}

void Endpoint::count(std::string_view group, Collective collective, Bytes bytes, Index messages) {
  Posted& entry = posted_[{std::string(group), std::string(name_of(collective))}];
  entry.bytes += bytes;
  entry.messages += messages;
}

}  // namespace cpplan::comm
