#include "kernels/cuda/stream_device.hpp"

#include <algorithm>

namespace cpplan::kernels::cuda {
namespace {

const Event& event_of(kernels::Event event) {
  return *static_cast<const Event*>(event.handle);
}

}  // namespace

StreamDevice::StreamDevice(int device, const Stream& compute)
    : device_(device), properties_(device_properties(device)), compute_(compute) {}

std::string StreamDevice::name() const {
  return std::to_string(device_) + " (" + properties_.name + ")";
}

kernels::Stream StreamDevice::make_stream() {
  return {streams_.emplace_back(StreamPriority::high).handle()};
}

kernels::Event StreamDevice::make_event() {
  return {&events_.emplace_back()};
}

void StreamDevice::record(kernels::Event event, kernels::Stream stream) {
  event_of(event).record(stream_of(stream));
}

void StreamDevice::wait(kernels::Stream stream, kernels::Event event) {
  stream_of(stream).wait(event_of(event));
}

/// Asked by threads that have not chosen a device as well: those that watch transfers.
bool StreamDevice::done(kernels::Event event) {
  use_device(device_);
  return event_of(event).passed();
}

std::byte* StreamDevice::allocate(Bytes bytes) {
  return memory_.emplace_back(bytes).data();
}

std::byte* StreamDevice::allocate_pinned(Bytes bytes) {
  return pinned_.emplace_back(bytes).data();
}

void StreamDevice::copy(const Tensor& from, const Tensor& to, kernels::Stream stream) {
  expect(same_shape(from, to) && from.dtype == to.dtype, "a copy keeps shape and type");
  if (from.data == to.data || from.elements() == 0) return;
  const Index element = size_of(from.dtype), bytes = from.bytes().count;
  const StridedRows of_block{1, bytes, bytes, bytes};
  const StridedRows of_rows{from.rows, from.cols * element, from.stride * element,
                            to.stride * element};
  const bool whole = from.contiguous() && to.contiguous();
  copy_rows(to.data, from.data, whole ? of_block : of_rows, stream_of(stream));
}

const Stream& StreamDevice::stream_of(kernels::Stream stream) const {
  if (stream.handle == compute_.handle()) return compute_;
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& made) {
    return made.handle() == stream.handle;
  });
  expect(found != streams_.end(), "a stream is of the device that it is used on");
  return *found;
}

}  // namespace cpplan::kernels::cuda
