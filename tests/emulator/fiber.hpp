#pragma once
// A thread of control that runs until it hands over to another one: each thread of a block is one.
// Knows nothing of kernels.
#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace cpplan::emulator {

class Fiber {
 public:
  /// Whoever constructs it, running on the stack it has.
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// The next switch_to() enters `body` on a stack of its own, which must not return. Whatever the
  /// fiber ran before is abandoned.
  void start(void (*body)());

  enum class Then { comes_back, is_done };
  /// Hands over from `from`, which runs now; returns when somebody hands back.
  static void switch_from(Fiber& from, Fiber& to, Then then = Then::comes_back);

  /// First in a body: tells the sanitizers that the switch is complete.
  static void entered();

 private:
  char* stack_ = nullptr;       // lowest address
  std::size_t size_ = 0;        // 0: the stack of the thread, whose place is learnt on leaving it
  void* fake_stack_ = nullptr;  // the address sanitizer's
  void* context_of_sanitizer_ = nullptr;  // the thread sanitizer's
  bool own_ = false;
#if defined(__x86_64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t machine_{};
#endif
};

}  // namespace cpplan::emulator
