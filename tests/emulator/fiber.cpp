#include "emulator/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "base/contract.hpp"
#include "emulator/sanitizers.hpp"

namespace cpplan::emulator {
namespace {

constexpr std::size_t page = 4096, stack_bytes = 256 * 1024;

thread_local const Fiber* switched_from = nullptr;

/// A stack below which lies a page that nobody may touch.
char* map_stack() {
  void* const block = mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  expect(block != MAP_FAILED, "address space for the stack of a fiber");
  mprotect(block, page, PROT_NONE);
  return static_cast<char*>(block) + page;
}

}  // namespace

#if defined(__x86_64__)
// Saves what a call must preserve on the one stack and restores it from the other.
extern "C" void cpplan_switch_stack(void** save, void* to);
asm(".text\n"
    ".type cpplan_switch_stack,@function\n"
    "cpplan_switch_stack:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size cpplan_switch_stack,.-cpplan_switch_stack\n");
#endif

Fiber::~Fiber() {
  if (!own_) return;
  munmap(stack_ - page, stack_bytes + page);
  if (context_of_sanitizer_ != nullptr) sanitizers::delete_context(context_of_sanitizer_);
}

void Fiber::start(void (*body)()) {
  if (!own_) stack_ = map_stack(), size_ = stack_bytes, own_ = true;
  sanitizers::allow(stack_, size_);  // what an abandoned body had poisoned
  fake_stack_ = nullptr;
  if (context_of_sanitizer_ == nullptr) context_of_sanitizer_ = sanitizers::new_context();
#if defined(__x86_64__)
  constexpr int saved_registers = 6;
  auto* top = reinterpret_cast<void**>(stack_ + size_) - 2;
  *--top = nullptr;  // the body returns to nowhere, and is entered with the stack as after a call
  *--top = reinterpret_cast<void*>(body);
  for (int i = 0; i < saved_registers; ++i) *--top = nullptr;
  stack_pointer_ = top;
#else
  getcontext(&machine_);
  machine_.uc_stack.ss_sp = stack_;
  machine_.uc_stack.ss_size = size_;
  machine_.uc_link = nullptr;
  makecontext(&machine_, body, 0);
#endif
}

void Fiber::switch_from(Fiber& from, Fiber& to, Then then) {
  switched_from = &from;
  if (!from.own_) from.context_of_sanitizer_ = sanitizers::this_context();
  sanitizers::leave(then == Then::is_done ? nullptr : &from.fake_stack_, to.stack_, to.size_);
  sanitizers::enter_context(to.context_of_sanitizer_);
#if defined(__x86_64__)
  cpplan_switch_stack(&from.stack_pointer_, to.stack_pointer_);
#else
  swapcontext(&from.machine_, &to.machine_);
#endif
  sanitizers::arrive(from.fake_stack_, nullptr, nullptr);
}

void Fiber::entered() {
  const void* stack = nullptr;
  std::size_t size = 0;
  sanitizers::arrive(nullptr, &stack, &size);
  auto* const before = const_cast<Fiber*>(switched_from);
  if (before->own_) return;
  before->stack_ = static_cast<char*>(const_cast<void*>(stack));
  before->size_ = size;
}

}  // namespace cpplan::emulator
