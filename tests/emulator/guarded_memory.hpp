#pragma once
// Memory whose neighbours nobody may touch: it ends at unreadable pages, and what a kernel reads or
// writes there is reported with the thread that did. The host cannot touch device memory at all, as
// it cannot on a real device, but while queued work runs.
#include <cstddef>
#include <string>

#include "base/units.hpp"

namespace cpplan::emulator {

enum class MemoryKind { shared, global };

/// Where guarded memory lies, from its first guard to its last.
struct Region {
  MemoryKind kind = MemoryKind::global;
  std::byte *mapping = nullptr, *data = nullptr, *guard = nullptr;
  Index bytes = 0, mapped = 0;
  std::byte* end() const { return data + bytes; }
  /// What alignment leaves between the end and the guard: nobody's, too.
  Index gap() const { return guard - end(); }
};

class GuardedMemory {
 public:
  GuardedMemory() = default;
  /// Aligned to `alignment`, filled with a pattern that is NaN in every type of float.
  GuardedMemory(MemoryKind kind, Index bytes, Index alignment);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return region_.data; }
  Index bytes() const { return region_.bytes; }
  void poison() const;

 private:
  Region region_;
};

/// While one lives, queued work runs: device memory is there, and a fault of a kernel is a defect.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

/// "4 bytes behind the end of 1024 bytes of global memory", or that nothing is there.
std::string describe_address(const void* address);

/// What was written into the gap behind device memory, or nothing.
std::string overrun_of_device_memory();

}  // namespace cpplan::emulator
