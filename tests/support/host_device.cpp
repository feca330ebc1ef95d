#include "support/host_device.hpp"

#include "comm/copy_rows.hpp"

namespace cpplan::test {
namespace {

HostStream& stream_of(kernels::Stream stream) {
  return *static_cast<HostStream*>(stream.handle);
}

HostEvent& event_of(kernels::Event event) {
  return *static_cast<HostEvent*>(event.handle);
}

}  // namespace

HostStream::HostStream(Kind kind) {
  if (kind == Kind::queued) thread_.emplace([this] { serve(); });
}

HostStream::~HostStream() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  change_.notify_one();
  if (thread_) thread_->join();
}

void HostStream::enqueue(std::function<void()> task) {
  if (!thread_) return task();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  change_.notify_one();
}

void HostStream::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    change_.wait(lock, [&] { return ended_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

void HostEvent::record(HostStream& stream) {
  long number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++recorded_;
  }
  stream.enqueue([this, number] {
    {
      const std::lock_guard lock(mutex_);
      reached_ = number;
    }
    change_.notify_all();
  });
}

void HostEvent::hold_back(HostStream& stream) {
  long number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = recorded_;
  }
  stream.enqueue([this, number] {
    std::unique_lock lock(mutex_);
    change_.wait(lock, [&] { return reached_ >= number; });
  });
}

bool HostEvent::done() {
  const std::lock_guard lock(mutex_);
  return reached_ == recorded_;
}

kernels::Stream HostDevice::make_stream() {
  return {&streams_.emplace_back(HostStream::Kind::queued)};
}

kernels::Event HostDevice::make_event() {
  return {&events_.emplace_back()};
}

void HostDevice::record(kernels::Event event, kernels::Stream stream) {
  event_of(event).record(stream_of(stream));
}

void HostDevice::wait(kernels::Stream stream, kernels::Event event) {
  event_of(event).hold_back(stream_of(stream));
}

bool HostDevice::done(kernels::Event event) {
  return event_of(event).done();
}

std::byte* HostDevice::allocate(Bytes bytes) {
  constexpr std::byte of_nan{0xFF};
  return memory_.emplace_back(static_cast<std::size_t>(bytes.count), of_nan).data();
}

void HostDevice::copy(const kernels::Tensor& from, const kernels::Tensor& to,
                      kernels::Stream stream) {
  stream_of(stream).enqueue([from, to] { comm::copy_rows(from, to); });
}

}  // namespace cpplan::test
