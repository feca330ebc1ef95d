#include "launch/mpirun_output.hpp"

#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <cstring>

namespace cpplan::launch {
namespace {

/// The number that follows `marker` in `text`, and what stands after it.
struct NumberFound {
  int number = 0;
  std::string_view rest;
};
std::optional<NumberFound> number_after(std::string_view text, std::string_view marker) {
  const auto at = text.find(marker);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + marker.size());
  while (text.starts_with(' ')) text.remove_prefix(1);
  NumberFound found;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found.number);
  if (error != std::errc()) return {};
  found.rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return found;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : "unknown";
}

/// "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed)."
std::optional<Notice> signal_notice(std::string_view text) {
  const auto rank = number_after(text, "mpirun noticed that process rank ");
  const auto signal = rank ? number_after(rank->rest, "exited on signal ") : std::nullopt;
  if (!signal) return {};
  return Notice{rank->number, {.code = 0, .signal = signal->number}};
}

/// "Process name: [[23032,1],1]" and "Exit code:    3"
std::optional<Notice> exit_notice(std::string_view text) {
  const auto job = number_after(text, "Process name: [[");
  const auto rank = job ? number_after(job->rest, "],") : std::nullopt;
  const auto code = rank ? number_after(rank->rest, "Exit code:") : std::nullopt;
  if (!code) return {};
  return Notice{rank->number, {.code = code->number, .signal = 0}};
}

/// "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 4."
std::optional<Notice> abort_notice(std::string_view text) {
  const auto rank = number_after(text, "MPI_ABORT was invoked on rank ");
  const auto code = rank ? number_after(rank->rest, "errorcode ") : std::nullopt;
  if (!code) return {};
  return Notice{rank->number, {.code = code->number, .signal = 0}};
}

}  // namespace

std::string describe(const Exit& exit) {
  if (exit.signal != 0)
    return fmt::format("was killed by signal {} ({})", exit.signal, signal_name(exit.signal));
  return fmt::format("exited with {}", exit.code);
}

TaggedLine parse_tagged(std::string_view line, Stream stream) {
  const std::string_view mark = stream == Stream::out ? "<stdout>:" : "<stderr>:";
  const auto rank = line.starts_with("[1,") ? number_after(line, "[1,") : std::nullopt;
  if (!rank || !rank->rest.starts_with("]" + std::string(mark)))
    return {{}, stream, std::string(line)};
  return {rank->number, stream, std::string(rank->rest.substr(1 + mark.size()))};
}

std::optional<Notice> parse_notice(std::string_view own_output) {
  if (const auto notice = abort_notice(own_output)) return notice;
  if (const auto notice = signal_notice(own_output)) return notice;
  return exit_notice(own_output);
}

}  // namespace cpplan::launch
