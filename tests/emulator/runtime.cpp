// runtime.hpp without a device: streams are queues that whoever waits works off, on its own thread.
#include "kernels/cuda/runtime.hpp"

#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/contract.hpp"
#include "emulator/guarded_memory.hpp"
#include "emulator/launch.hpp"
#include "emulator/place.hpp"
#include "emulator/settings.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// What a stream has to do, and how much of it is done.
struct Queue {
  std::recursive_mutex mutex;
  std::deque<std::function<void()>> work;
  cpplan::Index queued = 0, done = 0;

  void push(std::function<void()> item) {
    const std::scoped_lock lock(mutex);
    work.push_back(std::move(item));
    ++queued;
  }
  /// Does the oldest item. What it throws ends all that is queued behind it, as on a device.
  void step() {
    const std::scoped_lock lock(mutex);
    if (work.empty()) return;
    const std::function<void()> item = std::move(work.front());
    work.pop_front();
    try {
      const cpplan::emulator::DeviceAccess access;
      item();
      ++done;
    } catch (...) {
      work.clear();
      done = queued;
      throw;
    }
  }
  void run_until(cpplan::Index count) {
    const std::scoped_lock lock(mutex);
    while (done < count && !work.empty()) step();
  }
  bool reached(cpplan::Index count) {
    const std::scoped_lock lock(mutex);
    return done >= count;
  }
};

/// A point in a queue and when it was passed.
struct Point {
  std::shared_ptr<Queue> queue;
  cpplan::Index count = 0;
  std::shared_ptr<Clock::time_point> when;
};

/// The queues that this thread has made: freeing memory waits for them.
std::vector<std::weak_ptr<Queue>>& queues_of_this_thread() {
  thread_local std::vector<std::weak_ptr<Queue>> queues;
  return queues;
}

}  // namespace

struct CUstream_st {
  std::shared_ptr<Queue> queue = std::make_shared<Queue>();
};
struct CUevent_st {
  Point point;
};

namespace cpplan::kernels::cuda {
namespace {

using emulator::GuardedMemory;
using emulator::MemoryKind;

thread_local int device_of_this_thread = 0;

constexpr Index allocation_alignment = 256;  // what cudaMalloc promises

/// Memory that lives, by address: device and pinned.
template <class T>
struct Allocations {
  std::mutex mutex;
  std::map<const std::byte*, T> all;
};
Allocations<std::unique_ptr<GuardedMemory>>& device_allocations() {
  static auto* const of_process = new Allocations<std::unique_ptr<GuardedMemory>>;
  return *of_process;
}
Allocations<std::unique_ptr<std::byte[]>>& pinned_allocations() {
  static auto* const of_process = new Allocations<std::unique_ptr<std::byte[]>>;
  return *of_process;
}
std::map<const std::byte*, Index>& pinned_sizes() {
  static auto* const of_process = new std::map<const std::byte*, Index>;
  return *of_process;
}

bool is_pinned(const void* host) {
  auto& pinned = pinned_allocations();
  const std::scoped_lock lock(pinned.mutex);
  const auto* const byte = static_cast<const std::byte*>(host);
  const auto after = pinned_sizes().upper_bound(byte);
  if (after == pinned_sizes().begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return byte < begin + bytes;
}

std::string where(Place place) {
  return std::string(" at ") + place.file_name() + ":" + std::to_string(place.line());
}

/// A copy that reaches outside of device memory is refused when it is queued.
void check_device_range(const void* device, Bytes bytes, const char* call, Place place) {
  if (bytes.count == 0) return;
  auto& memory = device_allocations();
  const std::scoped_lock lock(memory.mutex);
  const auto* const byte = static_cast<const std::byte*>(device);
  const auto after = memory.all.upper_bound(byte);
  const auto* const found = after == memory.all.begin() ? nullptr : std::prev(after)->second.get();
  if (found != nullptr && byte + bytes.count <= found->data() + found->bytes()) return;
  throw emulator::Defect(std::string(call) + where(place) + " of " + std::to_string(bytes.count) +
                         " bytes is not inside memory of the device");
}

std::size_t size(Bytes bytes) {
  return static_cast<std::size_t>(bytes.count);
}

void finish_everything() {
  for (const auto& weak : queues_of_this_thread())
    if (const auto queue = weak.lock()) queue->run_until(queue->queued);
}

}  // namespace

void check_call(int error, const char* call, Place place) {
  if (error == 0) return;
  throw Failure(std::string(call) + where(place) + " failed on device " +
                std::to_string(device_of_this_thread) + ": error " + std::to_string(error));
}

Devices find_devices() {
  const int count = emulator::settings().devices;
  return {count, count > 0 ? "" : "the emulator is told to have none"};
}

DeviceProperties device_properties(int device) {
  return {"emulated device", "emulated:" + std::to_string(device), {Index{64} << 30}, 8, 90};
}

void use_device(int device, Place place) {
  constexpr int invalid_device = 101;  // cudaErrorInvalidDevice
  if (device < 0 || device >= find_devices().count)
    check_call(invalid_device, "cudaSetDevice", place);
  device_of_this_thread = device;
}

// --- streams and events ------------------------------------------------------------------------
Stream::Stream(StreamPriority, Place) : handle_(new CUstream_st) {
  queues_of_this_thread().push_back(handle_->queue);
}
Stream::~Stream() {
  delete handle_;  // what is queued and unseen is not done
}
Stream::Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
void Stream::synchronize(Place) const {
  handle_->queue->run_until(handle_->queue->queued);
}
bool Stream::idle(Place) const {
  handle_->queue->step();
  return handle_->queue->reached(handle_->queue->queued);
}
void Stream::wait(const Event& event, Place) const {
  const Point point = event.handle()->point;
  if (point.queue == nullptr) return;
  emulator::enqueue(*this, [point] { point.queue->run_until(point.count); });
}

Event::Event(EventTime, Place) : handle_(new CUevent_st) {}
Event::~Event() {
  delete handle_;
}
Event::Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
void Event::record(const Stream& stream, Place) const {
  const auto when = std::make_shared<Clock::time_point>();
  emulator::enqueue(stream, [when] { *when = Clock::now(); });
  const auto& queue = stream.handle()->queue;
  handle_->point = {queue, queue->queued, when};
}
void Event::synchronize(Place) const {
  if (handle_->point.queue != nullptr) handle_->point.queue->run_until(handle_->point.count);
}
bool Event::passed(Place) const {
  const Point& point = handle_->point;
  if (point.queue == nullptr || point.queue->reached(point.count)) return true;
  point.queue->step();  // who polls sees progress
  return point.queue->reached(point.count);
}
double seconds_between(const Event& begin, const Event& end, Place) {
  return std::chrono::duration<double>(*end.handle()->point.when - *begin.handle()->point.when)
      .count();
}

// --- memory ------------------------------------------------------------------------------------
DeviceMemory::DeviceMemory(Bytes bytes, Place place) : bytes_(bytes) {
  constexpr int out_of_memory = 2;  // cudaErrorMemoryAllocation
  if (bytes.count == 0) return;
  if (bytes > device_properties(0).memory) check_call(out_of_memory, "cudaMalloc", place);
  auto memory =
      std::make_unique<GuardedMemory>(MemoryKind::global, bytes.count, allocation_alignment);
  data_ = memory->data();
  ++emulator::statistics().allocations;
  auto& allocations = device_allocations();
  const std::scoped_lock lock(allocations.mutex);
  allocations.all.emplace(data_, std::move(memory));
}
DeviceMemory::~DeviceMemory() {
  if (data_ == nullptr) return;
  try {
    finish_everything();
  } catch (const Failure&) {
    // Nobody waits for that work any more.
  }
  auto& allocations = device_allocations();
  const std::scoped_lock lock(allocations.mutex);
  allocations.all.erase(data_);
}
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PinnedMemory::PinnedMemory(Bytes bytes, Place) : bytes_(bytes) {
  if (bytes.count == 0) return;
  auto memory = std::make_unique<std::byte[]>(size(bytes));
  data_ = memory.get();
  ++emulator::statistics().allocations;
  auto& pinned = pinned_allocations();
  const std::scoped_lock lock(pinned.mutex);
  pinned_sizes().emplace(data_, bytes.count);
  pinned.all.emplace(data_, std::move(memory));
}
PinnedMemory::~PinnedMemory() {
  if (data_ == nullptr) return;
  auto& pinned = pinned_allocations();
  const std::scoped_lock lock(pinned.mutex);
  pinned_sizes().erase(data_);
  pinned.all.erase(data_);
}
PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, {})) {}
PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void copy_to_device(void* device, const void* host, Bytes bytes, const Stream& stream,
                    Place place) {
  check_device_range(device, bytes, "copy_to_device", place);
  const std::size_t n = size(bytes);
  if (is_pinned(host)) return emulator::enqueue(stream, [=] { std::memcpy(device, host, n); });
  const auto* const begin = static_cast<const std::byte*>(host);
  const std::vector<std::byte> staged(begin, begin + n);
  emulator::enqueue(stream, [=] { std::memcpy(device, staged.data(), n); });
}

void copy_to_host(void* host, const void* device, Bytes bytes, const Stream& stream, Place place) {
  check_device_range(device, bytes, "copy_to_host", place);
  const std::size_t n = size(bytes);
  emulator::enqueue(stream, [=] { std::memcpy(host, device, n); });
  if (!is_pinned(host)) stream.synchronize(place);
}

void copy_on_device(void* to, const void* from, Bytes bytes, const Stream& stream, Place place) {
  check_device_range(to, bytes, "copy_on_device", place);
  check_device_range(from, bytes, "copy_on_device", place);
  const std::size_t n = size(bytes);
  emulator::enqueue(stream, [=] { std::memmove(to, from, n); });
}

void copy_rows(void* to, const void* from, const StridedRows& rows, const Stream& stream,
               Place place) {
  if (rows.rows == 0) return;
  const auto reach = [&](Index stride) { return Bytes{(rows.rows - 1) * stride + rows.row_bytes}; };
  if (!is_pinned(to)) check_device_range(to, reach(rows.to_stride), "copy_rows", place);
  if (!is_pinned(from)) check_device_range(from, reach(rows.from_stride), "copy_rows", place);
  emulator::enqueue(stream, [=] {
    for (Index row = 0; row < rows.rows; ++row)
      std::memcpy(static_cast<std::byte*>(to) + row * rows.to_stride,
                  static_cast<const std::byte*>(from) + row * rows.from_stride,
                  size(Bytes{rows.row_bytes}));
  });
}

void fill_bytes(void* device, unsigned char value, Bytes bytes, const Stream& stream, Place place) {
  check_device_range(device, bytes, "fill_bytes", place);
  const std::size_t n = size(bytes);
  emulator::enqueue(stream, [=] { std::memset(device, value, n); });
}

}  // namespace cpplan::kernels::cuda

namespace cpplan::emulator {

void enqueue(const kernels::cuda::Stream& stream, std::function<void()> work) {
  const std::shared_ptr<Queue> queue = stream.handle()->queue;
  queue->push(std::move(work));
  if (settings().streams == StreamTime::at_once) queue->run_until(queue->queued);
}

}  // namespace cpplan::emulator
