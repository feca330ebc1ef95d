#pragma once
// A CUDA device as transports see it. Its streams are CUDA's, so that NCCL can queue on them.
#include <deque>

#include "kernels/cuda/runtime.hpp"
#include "kernels/device.hpp"

namespace cpplan::kernels::cuda {

class StreamDevice final : public Device {
 public:
  /// `device` is the current one of the rank's thread; `compute`, where its ops are queued,
  /// outlives this.
  StreamDevice(int device, const Stream& compute);

  std::string name() const override;
  std::string bus_id() const override { return properties_.bus_id; }
  kernels::Stream compute_stream() override { return {compute_.handle()}; }
  kernels::Stream make_stream() override;
  kernels::Event make_event() override;
  void record(kernels::Event, kernels::Stream) override;
  void wait(kernels::Stream, kernels::Event) override;
  bool done(kernels::Event) override;
  std::byte* allocate(Bytes) override;
  std::byte* allocate_pinned(Bytes) override;
  void copy(const Tensor& from, const Tensor& to, kernels::Stream) override;

 private:
  const Stream& stream_of(kernels::Stream) const;

  int device_;
  DeviceProperties properties_;
  const Stream& compute_;
  // Elements of a deque stay where they are.
  std::deque<Stream> streams_;
  std::deque<Event> events_;
  std::deque<DeviceMemory> memory_;
  std::deque<PinnedMemory> pinned_;
};

}  // namespace cpplan::kernels::cuda
