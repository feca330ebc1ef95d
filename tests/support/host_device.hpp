#pragma once
// A device whose memory is the host's. Its streams are threads, so that work on them runs beside
// the host in the order of its queue, as on hardware; a stream that waits for what never comes
// stands still. Memory is NaN until it is written.
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kernels/device.hpp"

namespace cpplan::test {

class HostStream {
 public:
  /// queued: on a thread of its own. immediate: where it is queued, before enqueue() returns.
  enum class Kind { queued, immediate };

  explicit HostStream(Kind);
  /// Runs what is queued to its end.
  ~HostStream();
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  void enqueue(std::function<void()> task);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable change_;
  std::deque<std::function<void()>> tasks_;
  bool ended_ = false;
  std::optional<std::thread> thread_;
};

class HostEvent {
 public:
  void record(HostStream&);
  void hold_back(HostStream&);
  bool done();

 private:
  std::mutex mutex_;
  std::condition_variable change_;
  long recorded_ = 0, reached_ = 0;
};

class HostDevice final : public kernels::Device {
 public:
  /// `compute`: immediate where ops of the host's backend are the device's.
  explicit HostDevice(HostStream::Kind compute, std::string bus_id = "0000:01:00.0")
      : bus_id_(std::move(bus_id)), compute_(compute) {}

  std::string name() const override { return "0 (host)"; }
  std::string bus_id() const override { return bus_id_; }
  kernels::Stream compute_stream() override { return {&compute_}; }
  kernels::Stream make_stream() override;
  kernels::Event make_event() override;
  void record(kernels::Event, kernels::Stream) override;
  void wait(kernels::Stream, kernels::Event) override;
  bool done(kernels::Event) override;
  std::byte* allocate(Bytes) override;
  std::byte* allocate_pinned(Bytes bytes) override { return allocate(bytes); }
  void copy(const kernels::Tensor& from, const kernels::Tensor& to, kernels::Stream) override;

  /// Work that a test puts on the compute stream.
  void compute(std::function<void()> work) { compute_.enqueue(std::move(work)); }
  /// Blocks of memory made so far.
  std::size_t allocations() const { return memory_.size(); }

 private:
  std::string bus_id_;
  std::list<std::vector<std::byte>> memory_;
  std::list<HostEvent> events_;
  std::list<HostStream> streams_;  // end before the memory that they work on
  HostStream compute_;
};

}  // namespace cpplan::test
