// Copies that a thread starts and waits for in groups. What the hardware may do at any time between
// the two happens at the end of it or at the start (settings.hpp).
#include "emulated_primitives.hpp"
#include "emulator/settings.hpp"

namespace cpplan::kernels::cuda {
namespace {

constexpr std::size_t copy_bytes = 16;

using emulator::AsyncCopy;

void perform(const AsyncCopy& copy) {
  if (copy.from == nullptr)
    std::memset(copy.to, 0, copy_bytes);
  else
    std::memcpy(copy.to, copy.from, copy_bytes);
}

void check_alignment(const void* address, Caller caller) {
  ThreadBlock& block = ThreadBlock::current();
  if (reinterpret_cast<std::uintptr_t>(address) % copy_bytes != 0)
    block.stop("misaligned copy: " + block.who(block.thread().index) + " in copy_async at " +
               caller.file + ":" + std::to_string(caller.line) + " (16 bytes)");
}

/// A fault is the caller's, not that of whoever waits.
void touch(const std::byte* bytes) {
  const volatile std::byte* const both = bytes;
  (void)both[0];
  (void)both[copy_bytes - 1];
}

}  // namespace

void copy_async(void* shared, const void* global, bool valid, Caller caller) {
  check_alignment(shared, caller);
  check_alignment(global, caller);
  const AsyncCopy copy{static_cast<std::byte*>(shared),
                       valid ? static_cast<const std::byte*>(global) : nullptr, caller};
  touch(copy.to);
  if (copy.from != nullptr) touch(copy.from);
  if (emulator::settings().copies == emulator::CopyTime::at_once)
    perform(copy);
  else
    ThreadBlock::current().thread().uncommitted.push_back(copy);
}

void commit_copies() {
  auto& thread = ThreadBlock::current().thread();
  thread.groups.push_back(std::move(thread.uncommitted));
  thread.uncommitted.clear();
}

void wait_for_groups(int pending) {
  auto& groups = ThreadBlock::current().thread().groups;
  for (; std::ssize(groups) > pending; groups.pop_front())
    for (const AsyncCopy& copy : groups.front()) perform(copy);
}

}  // namespace cpplan::kernels::cuda
