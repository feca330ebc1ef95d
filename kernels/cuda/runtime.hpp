#pragma once
// The device as the host sees it: memory, streams, events, copies. A thin layer over the CUDA
// runtime whose every call is checked: what fails is a Failure that names the call, the place and
// the device. runtime.cu is the real one; the emulator of the tests has another. Rank and host are
// added by who catches.
#include <source_location>
#include <string>

#include "base/units.hpp"

struct CUstream_st;  // what cudaStream_t and cudaEvent_t point to
struct CUevent_st;

namespace cpplan::kernels::cuda {

using Place = std::source_location;

/// The devices that this process may use; where there are none, `problem` says why.
struct Devices {
  int count = 0;
  std::string problem;
};
Devices find_devices();

struct DeviceProperties {
  std::string name;
  std::string bus_id;  // "0000:3b:00.0": the address of the hardware on its host
  Bytes memory;
  int multiprocessors = 0;
  int compute_capability = 0;  // 90 for 9.0
};
DeviceProperties device_properties(int device);

/// What this thread does from now on it does on that device.
void use_device(int device, Place place = Place::current());

class Event;

enum class StreamPriority { normal, high };

/// A queue of work: in order, and unordered with other streams but for events.
class Stream {
 public:
  explicit Stream(StreamPriority priority = StreamPriority::normal, Place place = Place::current());
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;

  /// Until all of it is done. What failed on the device since then is thrown here.
  void synchronize(Place place = Place::current()) const;
  /// Whether all of it is done. Throws what failed.
  bool idle(Place place = Place::current()) const;
  /// What is queued from now on starts after `event`.
  void wait(const Event& event, Place place = Place::current()) const;
  CUstream_st* handle() const { return handle_; }

 private:
  CUstream_st* handle_ = nullptr;
};

/// Whether seconds_between() may be asked of an event; one that only orders costs the device less.
enum class EventTime { untold, told };

/// A point in a stream.
class Event {
 public:
  explicit Event(EventTime time = EventTime::untold, Place place = Place::current());
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  void record(const Stream& stream, Place place = Place::current()) const;
  /// Until the stream has passed the last record(); at once where there was none.
  void synchronize(Place place = Place::current()) const;
  bool passed(Place place = Place::current()) const;
  CUevent_st* handle() const { return handle_; }

 private:
  CUevent_st* handle_ = nullptr;
};
/// Time between two events that have passed, made with EventTime::told.
double seconds_between(const Event& begin, const Event& end, Place place = Place::current());

/// Memory of the current device, aligned to 256, uninitialised. Freeing it waits for the device.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(Bytes bytes, Place place = Place::current());
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  std::byte* data() const { return data_; }
  Bytes bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  Bytes bytes_;
};

/// Memory of the host that a device copies from and to without the host's help.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  explicit PinnedMemory(Bytes bytes, Place place = Place::current());
  ~PinnedMemory();
  PinnedMemory(PinnedMemory&& other) noexcept;
  PinnedMemory& operator=(PinnedMemory&& other) noexcept;
  std::byte* data() const { return data_; }
  Bytes bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  Bytes bytes_;
};

/// Queued copies. Of pinned memory they read and write when their turn comes, so it must live and
/// stay as it is until then; from pageable memory they have read, and to it they have written, when
/// they return.
void copy_to_device(void* device, const void* host, Bytes bytes, const Stream& stream,
                    Place place = Place::current());
void copy_to_host(void* host, const void* device, Bytes bytes, const Stream& stream,
                  Place place = Place::current());
void copy_on_device(void* to, const void* from, Bytes bytes, const Stream& stream,
                    Place place = Place::current());
/// `rows` times `row_bytes`, from one distance between rows to another; each end is of the device,
/// or pinned.
struct StridedRows {
  Index rows, row_bytes, from_stride, to_stride;  // strides in bytes
};
void copy_rows(void* to, const void* from, const StridedRows& rows, const Stream& stream,
               Place place = Place::current());
void fill_bytes(void* device, unsigned char value, Bytes bytes, const Stream& stream,
                Place place = Place::current());

/// Of a launch (primitives.cuh): blocks, threads of each (a multiple of 32), and its shared memory.
struct LaunchShape {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned threads = 32;
  Index shared_bytes = 0;
  Place place = Place::current();
};

/// Throws a Failure unless `error`, a cudaError_t, is 0.
void check_call(int error, const char* call, Place place = Place::current());

}  // namespace cpplan::kernels::cuda
