#include "train/crash_words.hpp"

#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "base/contract.hpp"

namespace cpplan::train {
namespace {

constexpr std::array signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t stack_size = 64 << 10;  // a rank may be out of its own

// What a handler may touch.
record::StatusFile* status_file = nullptr;
int rank_number = 0;
std::array<struct sigaction, signals.size()> before{};
std::terminate_handler terminate_before = nullptr;
alignas(16) std::array<char, stack_size> stack;

void write_words(std::string_view words) {
  // Nothing can be done about words that cannot be written.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, words.data(), words.size());
}

/// In the context of a signal: no memory is asked for.
void leave_words(std::string_view words) {
  std::array<char, 256> line;
  const auto end =
      fmt::format_to_n(line.data(), line.size(), "cpplan: rank {}: {}\n", rank_number, words).out;
  write_words({line.data(), static_cast<std::size_t>(end - line.data())});
  if (status_file) status_file->crashed(words);  // first: the walk over a broken stack may not end
  std::array<void*, 32> calls;
  backtrace_symbols_fd(calls.data(), backtrace(calls.data(), static_cast<int>(calls.size())),
                       STDERR_FILENO);
}

void note(int signal, siginfo_t* info, void*) {
  std::array<char, 128> words;
  const char* name = sigabbrev_np(signal);
  const auto head =
      fmt::format_to_n(words.data(), words.size(), "signal {} (SIG{})", signal, name ? name : "?")
          .out;
  const auto room = words.size() - static_cast<std::size_t>(head - words.data());
  const bool sent = info->si_code <= 0;
  const auto end = sent ? fmt::format_to_n(head, room, " sent by process {}", info->si_pid).out
                        : fmt::format_to_n(head, room, " at address {:#x}",
                                           reinterpret_cast<std::uintptr_t>(info->si_addr))
                              .out;
  leave_words({words.data(), static_cast<std::size_t>(end - words.data())});
  raise(signal);  // the handler is gone by now: this one ends us
}

std::string words_of_exception() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    return "terminated";
  } catch (const std::exception& exception) {
    return fmt::format("an unexpected exception: {}", exception.what());
  } catch (...) {
    return "an unexpected exception of no known type";
  }
}

[[noreturn]] void end_of_program() {
  leave_words(words_of_exception());
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

}  // namespace

CrashWords::CrashWords(int rank, record::StatusFile* status) {
  expect(terminate_before == nullptr, "crashes are caught once in a process");
  status_file = status, rank_number = rank;
  const stack_t other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&other, nullptr);
  std::array<void*, 1> warmed;  // the first call loads a library, which no handler may do
  backtrace(warmed.data(), 1);
  struct sigaction action {};
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before[i]);
  terminate_before = std::set_terminate(end_of_program);
}

CrashWords::~CrashWords() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before[i], nullptr);
  std::set_terminate(std::exchange(terminate_before, nullptr));
  status_file = nullptr;
}

}  // namespace cpplan::train
