#pragma once
// What the NCCL communicators of one rank share: the library, the device, the thread that watches
// them, and the lanes. A lane is one communicator of NCCL with the stream that its operations are
// queued on; each has its own, so that a transfer that waits for its peer holds up no other.
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "comm/endpoint.hpp"
#include "comm/nccl_api.hpp"
#include "comm/nccl_monitor.hpp"

namespace cpplan::comm {

struct NcclPlace {
  int rank = 0;  // in the world
  std::string host;
};

class NcclWorld;

class NcclLane {
 public:
  /// Together with the other ranks of the lane. Throws Failure.
  NcclLane(NcclWorld&, const NcclApi::UniqueId&, int rank, int size, std::string_view group);
  ~NcclLane();
  NcclLane(const NcclLane&) = delete;
  NcclLane& operator=(const NcclLane&) = delete;

  NcclApi::Comm* comm() const { return comm_; }
  kernels::Stream stream() const { return stream_; }

  /// Contiguous memory of the shape of `like` for the transfer that is being queued. Later ones use
  /// it again, since the lane's stream runs them one after the other.
  Tensor packed(const Tensor& like);
  void begin_transfer() { used_ = {}; }

 private:
  friend class NcclWorld;
  void finalize();

  NcclWorld& world_;
  NcclApi::Comm* comm_ = nullptr;
  kernels::Stream stream_;
  std::byte* block_ = nullptr;
  Bytes capacity_, used_;
};

class NcclWorld {
 public:
  /// `host`: the rank's end of the transport that carries what the host waits for. Deadlines and
  /// the counters of what was posted are its own.
  NcclWorld(const NcclApi&, kernels::Device&, Endpoint& host, NcclPlace);
  ~NcclWorld();
  NcclWorld(const NcclWorld&) = delete;
  NcclWorld& operator=(const NcclWorld&) = delete;

  const NcclApi& api() const { return api_; }
  kernels::Device& device() const { return device_; }
  Endpoint& host() const { return host_; }
  int rank() const { return place_.rank; }
  /// "rank 3 of host a", for messages.
  std::string name() const;
  NcclMonitor& monitor() { return monitor_; }

  NcclApi::UniqueId make_id();
  /// `body` calls NCCL for a transfer, as one group of operations, on these lanes; returns when all
  /// of them are on their streams.
  template <class Body>
  void group(std::span<NcclLane* const> lanes, const NcclTransfer& transfer, const Body& body) {
    monitor_.check();
    if (const std::lock_guard lock(mutex_); alive(lanes)) {
      check(api_.group_start(), "ncclGroupStart");
      try {
        body();
      } catch (...) {  // a group that stays open takes in every later call of the thread
        api_.group_end();
        throw;
      }
      check(api_.group_end(), "ncclGroupEnd");
    }
    for (NcclLane* lane : lanes) settle(*lane, [&] { return awaited_by(transfer, name()); });
  }
  /// Throws Failure that names the call, unless it went well or goes on.
  void check(NcclApi::Result, std::string_view call);
  /// Returns when what was begun on the lane is through. Throws Failure past the host's deadline.
  void settle(NcclLane&, const std::function<Ongoing::Awaited()>&);

  /// Watched until it has ended, against the deadline of the host's transport; its event serves
  /// others when nobody has it any more.
  std::shared_ptr<const NcclTransfer> watch(NcclTransfer);
  /// One that nobody uses.
  kernels::Event take_event();

 private:
  friend class NcclLane;
  /// Not aborted; called with the mutex held.
  static bool alive(std::span<NcclLane* const>);
  void give_back(kernels::Event);
  void forget(NcclLane&);
  NcclApi::Result begin_end_of(const NcclLane&);
  NcclApi::Result state_of(const NcclLane&);
  std::optional<std::string> error();
  void abort_all();
  std::string text_of(NcclApi::Result, NcclApi::Comm*) const;

  const NcclApi& api_;
  kernels::Device& device_;
  Endpoint& host_;
  NcclPlace place_;
  std::mutex mutex_;  // of calls into NCCL: the monitor aborts what we use
  std::vector<NcclLane*> lanes_;
  std::mutex events_mutex_;  // the monitor gives them back, too
  std::vector<kernels::Event> events_;
  NcclMonitor monitor_;
};

}  // namespace cpplan::comm
