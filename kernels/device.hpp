#pragma once
// The device that tensors live on, as a transport sees it: streams of work that run beside the host
// and beside each other, events that order them, and copies. A backend of the host has none.
#include <string>

#include "kernels/tensor.hpp"

namespace cpplan::kernels {

/// Work that is done in the order in which it was queued.
struct Stream {
  void* handle = nullptr;
};

/// A place in a stream, where it was last recorded.
struct Event {
  void* handle = nullptr;
};

/// Of one rank. What it makes lives as long as it does. Throws Failure when the device fails, or
/// has no more memory. All but done() is for the rank's own thread.
class Device {
 public:
  virtual ~Device() = default;

  /// "0 (NVIDIA H100 80GB HBM3)", for messages.
  virtual std::string name() const = 0;
  /// The same for all ranks that share the piece of hardware, and for no others of their host: its
  /// address on the PCI bus.
  virtual std::string bus_id() const = 0;

  /// Where the rank's ops run.
  virtual Stream compute_stream() = 0;
  virtual Stream make_stream() = 0;
  virtual Event make_event() = 0;

  virtual void record(Event, Stream) = 0;
  /// What is queued on the stream from now on waits for the event, as it was last recorded. The
  /// host goes on.
  virtual void wait(Stream, Event) = 0;
  /// Whether all before the event is done; true where it was never recorded. From any thread.
  virtual bool done(Event) = 0;

  virtual std::byte* allocate(Bytes) = 0;
  /// Memory of the host that copies to and from the device without the host's help.
  virtual std::byte* allocate_pinned(Bytes) = 0;
  /// Queues a copy of `from` [n, c] to `to` [n, c] of the same type; either may be pinned memory.
  virtual void copy(const Tensor& from, const Tensor& to, Stream) = 0;
};

}  // namespace cpplan::kernels
