#include "comm/nccl_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "base/failure.hpp"
#include "kernels/arena.hpp"

namespace cpplan::comm {
namespace {
using NcclResult = NcclApi::Result;

bool bad(NcclResult result) {
  return result != NcclResult::success && result != NcclResult::in_progress;
}

}  // namespace

/// The host waits for a lane to be made, and for operations to reach its stream: NCCL connects
/// ranks when they first need each other.
class Settling final : public Ongoing {
 public:
  Settling(NcclWorld& world, std::function<NcclResult()> state,
           const std::function<Awaited()>& awaited)
      : world_(world), state_(std::move(state)), awaited_(awaited) {}

  bool advance() override {
    const NcclResult state = state_();
    if (bad(state)) {
      world_.monitor().check();
      throw Failure(fmt::format("NCCL failed ({}; {}). NCCL_DEBUG=WARN says more",
                                world_.api().error_string(state), awaited_().operation));
    }
    return state == NcclResult::success;
  }
  Awaited awaited() const override { return awaited_(); }
  bool polled() const override { return true; }

 private:
  NcclWorld& world_;
  std::function<NcclResult()> state_;
  const std::function<Awaited()>& awaited_;
};

NcclLane::NcclLane(NcclWorld& world, const NcclApi::UniqueId& id, int rank, int size,
                   std::string_view group)
    : world_(world), stream_(world.device().make_stream()) {
  {
    const std::lock_guard lock(world.mutex_);
    world.check(world.api_.init_rank(&comm_, size, &id, rank), "ncclCommInitRankConfig");
    world.lanes_.push_back(this);
  }
  try {
    world.settle(*this, [&]() -> Ongoing::Awaited {
      return {fmt::format("one of {} ranks", size),
              fmt::format("start of NCCL in group \"{}\", on {}", group, world.name())};
    });
  } catch (const Failure&) {
    world.abort_all();
    world.forget(*this);
    throw;
  }
}

NcclLane::~NcclLane() {
  if (std::uncaught_exceptions() == 0)
    finalize();
  else
    world_.abort_all();
  world_.forget(*this);
}

/// A peer that does not come to the end keeps us no longer than a transfer would.
void NcclLane::finalize() {
  const auto until = Endpoint::Clock::now() + world_.host().deadline();
  NcclResult state = world_.begin_end_of(*this);
  while (state == NcclResult::in_progress && Endpoint::Clock::now() < until) {
    std::this_thread::yield();
    state = world_.state_of(*this);
  }
  if (state != NcclResult::success) return;
  const std::lock_guard lock(world_.mutex_);
  if (comm_) world_.api_.destroy(std::exchange(comm_, nullptr));
}

Tensor NcclLane::packed(const Tensor& like) {
  const Index at = round_up(used_.count, kernels::Arena::alignment);
  used_ = {at + like.bytes().count};
  if (used_ > capacity_) {  // the block before is still in use by the stream, and stays
    capacity_ = 2 * used_;
    block_ = world_.device().allocate(capacity_);
  }
  return {block_ + at, like.rows, like.cols, like.cols, like.dtype};
}

NcclWorld::NcclWorld(const NcclApi& api, kernels::Device& device, Endpoint& host, NcclPlace place)
    : api_(api),
      device_(device),
      host_(host),
      place_(std::move(place)),
      monitor_(device, {.place = name(),
                        .error = [this] { return error(); },
                        .abort = [this] { abort_all(); }}) {
  host_.set_alarm([this] { monitor_.check(); });
}

NcclWorld::~NcclWorld() {
  host_.set_alarm({});
}

std::string NcclWorld::name() const {
  return fmt::format("rank {} of host {}", place_.rank, place_.host);
}

NcclApi::UniqueId NcclWorld::make_id() {
  NcclApi::UniqueId id;
  check(api_.get_unique_id(&id), "ncclGetUniqueId");
  return id;
}

bool NcclWorld::alive(std::span<NcclLane* const> lanes) {
  return std::all_of(lanes.begin(), lanes.end(),
                     [](const NcclLane* lane) { return lane->comm() != nullptr; });
}

void NcclWorld::check(NcclResult result, std::string_view call) {
  if (!bad(result)) return;
  throw Failure(fmt::format("{} failed on {} ({}). NCCL_DEBUG=WARN says more", call, name(),
                            text_of(result, nullptr)));
}

void NcclWorld::settle(NcclLane& lane, const std::function<Ongoing::Awaited()>& awaited) {
  Settling settling(
      *this, [&] { return state_of(lane); }, awaited);
  host_.wait_for(settling);
}

std::shared_ptr<const NcclTransfer> NcclWorld::watch(NcclTransfer transfer) {
  transfer.deadline = host_.deadline();
  transfer.until = NcclMonitor::Clock::now() + transfer.deadline;
  const std::shared_ptr<const NcclTransfer> watched(new NcclTransfer(std::move(transfer)),
                                                    [this](const NcclTransfer* last) {
                                                      give_back(last->end);
                                                      delete last;
                                                    });
  monitor_.watch(watched);
  return watched;
}

kernels::Event NcclWorld::take_event() {
  {
    const std::lock_guard lock(events_mutex_);
    if (!events_.empty()) {
      const kernels::Event event = events_.back();
      events_.pop_back();
      return event;
    }
  }
  return device_.make_event();
}

void NcclWorld::give_back(kernels::Event event) {
  const std::lock_guard lock(events_mutex_);
  events_.push_back(event);
}

/// What has not come to a good end is aborted.
void NcclWorld::forget(NcclLane& lane) {
  const std::lock_guard lock(mutex_);
  std::erase(lanes_, &lane);
  if (lane.comm_) api_.abort(lane.comm_);
}

NcclResult NcclWorld::begin_end_of(const NcclLane& lane) {
  const std::lock_guard lock(mutex_);
  return lane.comm_ ? api_.finalize(lane.comm_) : NcclResult::internal_error;
}

NcclResult NcclWorld::state_of(const NcclLane& lane) {
  const std::lock_guard lock(mutex_);
  if (!lane.comm_) return NcclResult::internal_error;  // aborted; the monitor knows why
  NcclResult state = NcclResult::success;
  const NcclResult call = api_.async_error(lane.comm_, &state);
  return call == NcclResult::success ? state : call;
}

std::optional<std::string> NcclWorld::error() {
  const std::lock_guard lock(mutex_);
  for (const NcclLane* lane : lanes_) {
    if (!lane->comm_) continue;
    NcclResult state = NcclResult::success;
    const NcclResult call = api_.async_error(lane->comm_, &state);
    if (bad(call)) return text_of(call, lane->comm_);
    if (bad(state)) return text_of(state, lane->comm_);
  }
  return {};
}

/// As one group: the end of one communicator may wait for the device, and so for what the others
/// have on it, which ends when they are told to abort.
void NcclWorld::abort_all() {
  const std::lock_guard lock(mutex_);
  api_.group_start();
  for (NcclLane* lane : lanes_)
    if (lane->comm_) api_.abort(std::exchange(lane->comm_, nullptr));
  api_.group_end();
}

std::string NcclWorld::text_of(NcclResult result, NcclApi::Comm* comm) const {
  const std::string text = api_.error_string(result), last = api_.last_error(comm);
  return last.empty() ? text : fmt::format("{}: {}", text, last);
}

}  // namespace cpplan::comm
