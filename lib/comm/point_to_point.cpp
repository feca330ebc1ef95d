#include "comm/point_to_point.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/copy_rows.hpp"
#include "comm/reduce.hpp"
#include "comm/ring.hpp"

namespace cpplan::comm {
namespace {

std::span<std::byte> bytes_of(const Tensor& t) {
  return {t.data, static_cast<std::size_t>(t.bytes().count)};
}

/// One message as the channel sees it: contiguous bytes, packed where the tensor is not.
class Parcel {
 public:
  explicit Parcel(const Message& message) : message_(message), contents_(message.buffer) {
    if (contents_.contiguous()) return;
    packed_ = std::make_unique_for_overwrite<std::byte[]>(bytes_of(contents_).size());
    contents_.data = packed_.get();
    contents_.stride = contents_.cols;
    if (message_.sends()) copy_rows(message_.buffer, contents_);
  }

  void post(Channel& channel, int tag) {
    request_ = message_.sends() ? channel.send(peer(), tag, bytes_of(contents_))
                                : channel.receive(peer(), tag, bytes_of(contents_));
  }

  bool through() {
    if (request_ && request_->done()) arrive();
    return !request_;
  }

  bool pending() const { return request_ != nullptr; }
  int peer() const { return message_.peer; }

 private:
  void arrive() {
    request_.reset();
    if (!message_.sends()) copy_rows(contents_, message_.buffer);
  }

  Message message_;
  Tensor contents_;
  std::unique_ptr<std::byte[]> packed_;
  std::unique_ptr<Request> request_;  // called off before the bytes it writes to go
};

/// Where a transfer belongs, and how to name it.
struct Place {
  Endpoint& endpoint;
  Channel& channel;
  const std::vector<int>& members;
  std::string_view group;
  int tag;
};

class SteppedTransfer final : public Work::Pending, public Ongoing {
 public:
  SteppedTransfer(const Place& place, const Transfer& t, Schedule schedule)
      : place_(place),
        collective_(t.collective),
        reduce_(t.reduce),
        schedule_(std::move(schedule)) {
    if (!finished()) post();
    place_.endpoint.enter(*this);
  }
  ~SteppedTransfer() override { place_.endpoint.leave(*this); }
  SteppedTransfer(const SteppedTransfer&) = delete;
  SteppedTransfer& operator=(const SteppedTransfer&) = delete;

  void wait() override { place_.endpoint.wait_for(*this); }

  bool advance() override {
    while (!finished()) {
      if (!step_is_through()) return false;
      add_up();
      ++current_;
      if (!finished()) post();
    }
    return true;
  }

  Awaited awaited() const override {
    const auto first =
        std::find_if(parcels_.begin(), parcels_.end(), [](const Parcel& p) { return p.pending(); });
    const auto peer = static_cast<std::size_t>(first->peer());
    return {fmt::format("rank {}", place_.members[peer]),
            fmt::format("{} of group \"{}\"", name_of(collective_), place_.group)};
  }

 private:
  bool finished() const { return current_ == schedule_.steps.size(); }
  const Step& step() const { return schedule_.steps[current_]; }

  /// An empty message is empty at both ends; neither posts it.
  void post() {
    parcels_.clear();
    for (const Message& m : step().messages) {
      if (m.buffer.elements() == 0) continue;
      parcels_.emplace_back(m).post(place_.channel, place_.tag);
      if (m.sends()) place_.endpoint.count(place_.group, collective_, m.buffer.bytes());
    }
  }

  bool step_is_through() {
    bool all = true;
    for (Parcel& parcel : parcels_) all = parcel.through() && all;
    return all;
  }

  void add_up() {
    if (step().into.elements() > 0) reduce_into(step().into, step().received, step().own, reduce_);
  }

  Place place_;
  Collective collective_;
  Reduce reduce_;
  Schedule schedule_;
  std::size_t current_ = 0;
  std::vector<Parcel> parcels_;
};

}  // namespace

PointToPoint::PointToPoint(Endpoint& endpoint, std::unique_ptr<Channel> channel,
                           std::string_view group, std::vector<int> members, int rank,
                           kernels::Trace& trace)
    : Communicator(group, rank, static_cast<int>(members.size()), trace),
      endpoint_(endpoint),
      channel_(std::move(channel)),
      members_(std::move(members)) {}

/// Exchanges match in the order of calls, under one tag; each collective has its own, so that the
/// later steps of one cannot meet those of another.
int PointToPoint::next_tag(Collective collective) {
  if (collective == Collective::exchange) return 0;
  return 1 + collectives_++ % last_tag;
}

std::unique_ptr<Work::Pending> PointToPoint::start(const Transfer& t) {
  if (t.collective == Collective::all_gather)
    copy_rows(t.in, t.out.row_range(rank() * t.in.rows, t.in.rows));
  const Place place{endpoint_, *channel_, members_, group(), next_tag(t.collective)};
  return std::make_unique<SteppedTransfer>(place, t, schedule(t, rank(), size()));
}

}  // namespace cpplan::comm
