#include "comm/threads.hpp"

#include <cstring>
#include <mutex>

#include "base/failure.hpp"
#include "comm/mailbox.hpp"
#include "comm/point_to_point.hpp"

namespace cpplan::comm {
namespace {

class ThreadEndpoint final : public Endpoint {
 public:
  ThreadEndpoint(Mailbox& mailbox, std::chrono::milliseconds deadline)
      : Endpoint(deadline), mailbox_(mailbox) {}

 private:
  void check() override {
    if (const auto reason = mailbox_.closed()) throw Failure(*reason);
  }
  void pause(Clock::time_point until) override { mailbox_.pause(until); }

  Mailbox& mailbox_;
};

struct Delivered final : Request {
  bool done() override { return true; }
};

class Arrival final : public Request {
 public:
  Arrival(Mailbox& mailbox, const Mailbox::Lane& lane, std::span<std::byte> bytes)
      : mailbox_(mailbox), lane_(lane), ticket_(mailbox.ticket(lane)), bytes_(bytes) {}

  bool done() override {
    const auto contents = mailbox_.take(lane_, ticket_);
    if (!contents) return false;
    expect(contents->size() == bytes_.size(), "both ends of a message have the same size");
    std::memcpy(bytes_.data(), contents->data(), bytes_.size());
    return true;
  }

 private:
  Mailbox& mailbox_;
  Mailbox::Lane lane_;
  Index ticket_;
  std::span<std::byte> bytes_;
};

class ThreadChannel final : public Channel {
 public:
  ThreadChannel(std::vector<Mailbox>& mailboxes, int key, std::vector<int> members, int rank)
      : mailboxes_(mailboxes), key_(key), members_(std::move(members)), rank_(rank) {}

  std::unique_ptr<Request> send(int peer, int tag, std::span<const std::byte> bytes) override {
    mailbox_of(peer).deliver({key_, rank_, tag}, {bytes.begin(), bytes.end()});
    return std::make_unique<Delivered>();
  }

  std::unique_ptr<Request> receive(int peer, int tag, std::span<std::byte> bytes) override {
    return std::make_unique<Arrival>(mailbox_of(rank_), Mailbox::Lane{key_, peer, tag}, bytes);
  }

 private:
  Mailbox& mailbox_of(int rank) {
    return mailboxes_[static_cast<std::size_t>(members_[static_cast<std::size_t>(rank)])];
  }

  std::vector<Mailbox>& mailboxes_;
  int key_;
  std::vector<int> members_;
  int rank_;
};

}  // namespace

struct ThreadWorld::State {
  State(int size, std::chrono::milliseconds deadline) : mailboxes(static_cast<std::size_t>(size)) {
    for (Mailbox& mailbox : mailboxes)
      endpoints.push_back(std::make_unique<ThreadEndpoint>(mailbox, deadline));
  }

  std::vector<Mailbox> mailboxes;
  std::vector<std::unique_ptr<ThreadEndpoint>> endpoints;
  std::mutex mutex;
  std::string reason;  // empty while all is well
};

ThreadWorld::ThreadWorld(int size, std::chrono::milliseconds deadline)
    : state_(std::make_unique<State>(size, deadline)) {}

ThreadWorld::~ThreadWorld() = default;

int ThreadWorld::size() const {
  return static_cast<int>(state_->mailboxes.size());
}

Endpoint& ThreadWorld::endpoint(int rank) {
  return *state_->endpoints[static_cast<std::size_t>(rank)];
}

std::string ThreadWorld::fail(std::string reason) {
  const std::lock_guard lock(state_->mutex);
  if (state_->reason.empty()) {
    state_->reason = std::move(reason);
    for (Mailbox& mailbox : state_->mailboxes) mailbox.close(state_->reason);
  }
  return state_->reason;
}

std::unique_ptr<Communicator> make_thread_communicator(ThreadWorld& world, std::string_view group,
                                                       int key, std::vector<int> members, int rank,
                                                       kernels::Trace& trace) {
  Endpoint& endpoint = world.endpoint(members[static_cast<std::size_t>(rank)]);
  auto channel = std::make_unique<ThreadChannel>(world.state_->mailboxes, key, members, rank);
  return std::make_unique<PointToPoint>(endpoint, std::move(channel), group, std::move(members),
                                        rank, trace);
}

}  // namespace cpplan::comm
