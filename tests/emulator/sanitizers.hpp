#pragma once
// What the sanitizers of addresses and of threads are told about stacks and memory of our own;
// nothing in other builds. To the latter the threads of a block are ordered: it watches the host's
// threads.
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define CPPLAN_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__)
#define CPPLAN_THREAD_SANITIZER 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CPPLAN_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define CPPLAN_THREAD_SANITIZER 1
#endif
#endif

#ifdef CPPLAN_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CPPLAN_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace cpplan::emulator::sanitizers {

#ifdef CPPLAN_ADDRESS_SANITIZER
inline void allow(void* begin, std::size_t size) {
  ASAN_UNPOISON_MEMORY_REGION(begin, size);
}
inline void forbid(void* begin, std::size_t size) {
  ASAN_POISON_MEMORY_REGION(begin, size);
}
inline void leave(void** fake_stack, const void* to, std::size_t size) {
  __sanitizer_start_switch_fiber(fake_stack, to, size);
}
inline void arrive(void* fake_stack, const void** from, std::size_t* size) {
  __sanitizer_finish_switch_fiber(fake_stack, from, size);
}
#else
inline void allow(void*, std::size_t) {}
inline void forbid(void*, std::size_t) {}
inline void leave(void**, const void*, std::size_t) {}
inline void arrive(void*, const void**, std::size_t*) {}
#endif

#ifdef CPPLAN_THREAD_SANITIZER
inline void* new_context() {
  return __tsan_create_fiber(0);
}
inline void* this_context() {
  return __tsan_get_current_fiber();
}
inline void delete_context(void* context) {
  __tsan_destroy_fiber(context);
}
inline void enter_context(void* context) {
  __tsan_switch_to_fiber(context, 0);
}
#else
inline void* new_context() {
  return nullptr;
}
inline void* this_context() {
  return nullptr;
}
inline void delete_context(void*) {}
inline void enter_context(void*) {}
#endif

}  // namespace cpplan::emulator::sanitizers
