#include "support/fake_clique.hpp"

#include <algorithm>
#include <cstring>
#include <list>

namespace cpplan::test {
namespace {
using Kind = FakeCall::Kind;

std::string name_of(NcclApi::Type type) {
  switch (type) {
    case NcclApi::Type::i32:
      return "i32";
    case NcclApi::Type::f32:
      return "f32";
    case NcclApi::Type::f64:
      return "f64";
    case NcclApi::Type::bf16:
      return "bf16";
  }
  return "?";
}

std::string verb_of(Kind kind) {
  switch (kind) {
    case Kind::send:
      return "sends";
    case Kind::receive:
      return "receives";
    case Kind::all_gather:
      return "gathers";
    case Kind::reduce_scatter:
      return "reduces and scatters";
    case Kind::all_reduce:
      return "reduces";
  }
  return "?";
}

bool fits(const FakeCall& a, const FakeCall& b) {
  const bool pair = !a.collective() && !b.collective();
  return (pair || (a.kind == b.kind && a.op == b.op)) && a.count == b.count && a.type == b.type;
}

}  // namespace

void FakeClique::join(int rank) {
  const std::lock_guard lock(mutex_);
  joined_.insert(rank);
}

bool FakeClique::complete() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(joined_.size()) == size_;
}

void FakeClique::announce(int rank, const std::vector<FakeCall>& calls) {
  const std::lock_guard lock(mutex_);
  for (const FakeCall& call : calls) {
    if (call.collective()) may_collect_.insert(rank);
    if (call.kind == Kind::send) may_send_.insert({rank, call.peer});
    if (call.kind == Kind::receive) may_receive_.insert({call.peer, rank});
  }
}

bool FakeClique::connected(int rank, const std::vector<FakeCall>& calls) {
  const std::lock_guard lock(mutex_);
  return std::all_of(calls.begin(), calls.end(), [&](const FakeCall& call) {
    if (call.collective()) return static_cast<int>(may_collect_.size()) == size_;
    if (call.kind == Kind::send) return may_receive_.count({rank, call.peer}) > 0;
    return may_send_.count({call.peer, rank}) > 0;
  });
}

void FakeClique::execute(int rank, const std::vector<FakeCall>& calls) {
  std::list<Resident> residents;
  std::unique_lock lock(mutex_);
  if (aborted_.count(rank) > 0) return;
  for (const FakeCall& call : calls) enter(residents.emplace_back(Resident{rank, &call}));
  change_.notify_all();
  change_.wait(lock, [&] {
    return aborted_.count(rank) > 0 || std::all_of(residents.begin(), residents.end(),
                                                   [](const Resident& r) { return r.through; });
  });
}

void FakeClique::abort(int rank) {
  {
    const std::lock_guard lock(mutex_);
    aborted_.insert(rank);
    for (auto* queues : {&sends_, &receives_})
      for (auto& [route, queue] : *queues) leave(queue, rank);
    for (auto& [turn, queue] : collectives_) leave(queue, rank);
  }
  change_.notify_all();
}

bool FakeClique::aborted_by_another(int rank) {
  const std::lock_guard lock(mutex_);
  return aborted_.size() > aborted_.count(rank);
}

void FakeClique::enter(Resident& resident) {
  const FakeCall& call = *resident.call;
  if (call.collective()) {
    collectives_[call.turn].push_back(&resident);
    return meet_all(collectives_[call.turn]);
  }
  const bool sends = call.kind == Kind::send;
  const auto route =
      sends ? std::pair(resident.rank, call.peer) : std::pair(call.peer, resident.rank);
  (sends ? sends_ : receives_)[route].push_back(&resident);
  meet(route.first, route.second);
}

void FakeClique::leave(Queue& queue, int rank) {
  queue.erase(std::remove_if(queue.begin(), queue.end(),
                             [rank](const Resident* resident) { return resident->rank == rank; }),
              queue.end());
}

/// The first of each end that is not through: a pair that does not fit blocks those behind it.
void FakeClique::meet(int from, int to) {
  Queue &senders = sends_[{from, to}], &receivers = receives_[{from, to}];
  while (!senders.empty() && !receivers.empty()) {
    Resident &sender = *senders.front(), &receiver = *receivers.front();
    if (!fits(*sender.call, *receiver.call)) {
      sender.misfit = receiver.misfit = true;
      return;
    }
    std::memcpy(receiver.call->out, sender.call->in, bytes_of(*sender.call));
    sender.through = receiver.through = true;
    senders.pop_front(), receivers.pop_front();
  }
}

void FakeClique::meet_all(Queue& residents) {
  if (static_cast<int>(residents.size()) < size_) return;
  std::sort(residents.begin(), residents.end(),
            [](const Resident* a, const Resident* b) { return a->rank < b->rank; });
  std::vector<const FakeCall*> calls;
  for (const Resident* resident : residents) calls.push_back(resident->call);
  const bool fit = std::all_of(calls.begin(), calls.end(),
                               [&](const FakeCall* call) { return fits(*call, *calls[0]); });
  if (fit) run_collective(calls);
  for (Resident* resident : residents) (fit ? resident->through : resident->misfit) = true;
  if (fit) collectives_.erase(calls[0]->turn);
}

std::string FakeClique::line_of(const Resident& resident) const {
  const FakeCall& call = *resident.call;
  std::string line = "communicator " + std::to_string(number_) + ": rank " +
                     std::to_string(resident.rank) + " " + verb_of(call.kind) + " " +
                     std::to_string(call.count) + " " + name_of(call.type);
  if (call.kind == Kind::send) line += " to rank " + std::to_string(call.peer);
  if (call.kind == Kind::receive) line += " from rank " + std::to_string(call.peer);
  return line + (resident.misfit ? " (does not fit its peer's)\n" : "\n");
}

std::string FakeClique::standing_still() {
  const std::lock_guard lock(mutex_);
  std::set<std::string> lines;
  const auto add = [&](const Queue& queue) {
    for (const Resident* resident : queue)
      if (!resident->through) lines.insert(line_of(*resident));
  };
  for (const auto* queues : {&sends_, &receives_})
    for (const auto& [route, queue] : *queues) add(queue);
  for (const auto& [turn, queue] : collectives_) add(queue);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace cpplan::test
