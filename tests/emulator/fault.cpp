#include "emulator/fault.hpp"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "emulator/guarded_memory.hpp"
#include "emulator/thread_block.hpp"

namespace cpplan::emulator {
namespace {

thread_local const void* fault_address = nullptr;

/// Where a faulting thread of a kernel goes on, on its own stack.
[[noreturn]] void report_fault() {
  ThreadBlock& block = ThreadBlock::current();
  block.stop("illegal access: " + block.who(block.thread().index) + " reached " +
             describe_address(fault_address));
}

/// Sends the interrupted code to report_fault() as if it had called it.
bool redirect([[maybe_unused]] ucontext_t& context) {
#if defined(__x86_64__)
  constexpr greg_t red_zone = 128, alignment = 16;
  greg_t& stack = context.uc_mcontext.gregs[REG_RSP];
  stack = (stack - red_zone) / alignment * alignment - 8;
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&report_fault);
  return true;
#else
  return false;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  fault_address = info->si_addr;
  if (ThreadBlock::running() && redirect(*static_cast<ucontext_t*>(context))) return;
  constexpr char words[] = "emulator: the host touched memory of the device, or nobody's\n";
  (void)!write(STDERR_FILENO, words, sizeof words - 1);
  ::signal(signal, SIG_DFL);  // again, and fatal
}

/// The fault may be that a stack is full.
struct SignalStack {
  SignalStack() {
    stack_t present{};
    sigaltstack(nullptr, &present);
    if ((present.ss_flags & SS_DISABLE) == 0) return;
    stack_t own{};
    own.ss_sp = std::malloc(bytes);
    own.ss_size = bytes;
    sigaltstack(&own, nullptr);
    memory = own.ss_sp;
  }
  ~SignalStack() {
    if (memory == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    std::free(memory);
  }
  static constexpr std::size_t bytes = 64 * 1024;
  void* memory = nullptr;
};

}  // namespace

void catch_faults() {
  thread_local const SignalStack stack_of_this_thread;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action,
            nullptr);  // again each time: test runners install theirs for each test
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace cpplan::emulator
