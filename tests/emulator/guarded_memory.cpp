#include "emulator/guarded_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "base/contract.hpp"
#include "emulator/fault.hpp"
#include "emulator/sanitizers.hpp"

namespace cpplan::emulator {
namespace {

constexpr Index page = 4096, guard_bytes = 256 * 1024;
constexpr auto poison_byte = std::byte{0xFF};

/// All guarded memory of the process by its first address, and how many threads run device work.
struct Registry {
  std::mutex mutex;
  std::map<const std::byte*, Region> regions;
  int users = 0;
};
Registry& registry() {
  static auto* const of_process = new Registry;  // outlives every other static
  return *of_process;
}

std::size_t size(Index bytes) {
  return static_cast<std::size_t>(bytes);
}

void protect(const Region& region, int access) {
  std::byte* const begin = region.mapping + guard_bytes;
  mprotect(begin, size(region.guard - begin), access);
}

Region map_region(MemoryKind kind, Index bytes, Index alignment) {
  const Index room = round_up(bytes, alignment), pages = round_up(room, page);
  void* const block = mmap(nullptr, size(pages + 2 * guard_bytes), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  expect(block != MAP_FAILED, "address space for the memory of an emulated device");
  Region region{.kind = kind, .bytes = bytes, .mapped = pages + 2 * guard_bytes};
  region.mapping = static_cast<std::byte*>(block);
  region.guard = region.mapping + guard_bytes + pages;
  region.data = region.guard - room;
  return region;
}

}  // namespace

GuardedMemory::GuardedMemory(MemoryKind kind, Index bytes, Index alignment)
    : region_(map_region(kind, bytes, alignment)) {
  protect(region_, PROT_READ | PROT_WRITE);
  // Where a thread's stack has been, what the thread had poisoned still is.
  sanitizers::allow(region_.data, size(region_.guard - region_.data));
  std::fill(region_.data, region_.guard, poison_byte);
  sanitizers::forbid(region_.end(), size(region_.gap()));
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  all.regions.emplace(region_.mapping, region_);
  if (kind == MemoryKind::global && all.users == 0) protect(region_, PROT_NONE);
}

GuardedMemory::~GuardedMemory() {
  if (region_.mapping == nullptr) return;
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  all.regions.erase(region_.mapping);
  sanitizers::allow(region_.end(), size(region_.gap()));
  munmap(region_.mapping, size(region_.mapped));
}

void GuardedMemory::poison() const {
  std::fill_n(region_.data, region_.bytes, poison_byte);
}

DeviceAccess::DeviceAccess() {
  catch_faults();
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  if (++all.users > 1) return;
  for (const auto& [address, region] : all.regions) protect(region, PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  if (--all.users > 0) return;
  for (const auto& [address, region] : all.regions)
    if (region.kind == MemoryKind::global) protect(region, PROT_NONE);
}

std::string describe_address(const void* address) {
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  const auto* const byte = static_cast<const std::byte*>(address);
  const auto after = all.regions.upper_bound(byte);
  if (after == all.regions.begin()) return "no memory of the device";
  const Region& region = std::prev(after)->second;
  if (byte >= region.mapping + region.mapped) return "no memory of the device";
  const bool before = byte < region.data;
  const Index distance = before ? region.data - byte : byte - region.end();
  const std::string whose = std::to_string(region.bytes) + " bytes of " +
                            (region.kind == MemoryKind::shared ? "shared" : "global") + " memory";
  if (!before && distance < 0) return "inside " + whose;
  return std::to_string(distance) + " bytes " + (before ? "before " : "behind the end of ") + whose;
}

std::string overrun_of_device_memory() {
#ifndef CPPLAN_ADDRESS_SANITIZER  // which says so itself, and does not let us look
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  for (const auto& [address, region] : all.regions) {
    if (region.kind != MemoryKind::global) continue;
    const auto written = [](std::byte b) { return b != poison_byte; };
    const auto* const found = std::find_if(region.end(), region.guard, written);
    if (found == region.guard) continue;
    return "wrote " + std::to_string(found - region.end()) + " bytes behind the end of " +
           std::to_string(region.bytes) + " bytes of global memory";
  }
#endif
  return {};
}

}  // namespace cpplan::emulator
