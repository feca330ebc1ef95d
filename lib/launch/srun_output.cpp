#include "launch/srun_output.hpp"

#include <charconv>
#include <csignal>
#include <cstring>
#include <string>

#include "base/text.hpp"

namespace cpplan::launch {
namespace {

/// A number at the front of `text`, which is taken off.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// SLURM says "Killed", as strsignal() does; a core dump is a word more.
std::optional<int> signal_of(std::string_view text) {
  if (text.starts_with("Out Of Memory")) return SIGKILL;
  for (int signal = 1; signal < NSIG; ++signal)
    if (const char* name = sigdescr_np(signal); name && text.starts_with(name)) return signal;
  return {};
}

std::optional<Exit> exit_of(std::string_view text) {
  constexpr std::string_view exited = "Exited with exit code ";
  if (text.starts_with(exited)) {
    text.remove_prefix(exited.size());
    if (const auto code = take_number(text)) return Exit{.code = *code, .signal = 0};
  }
  if (const auto signal = signal_of(text)) return Exit{.code = 0, .signal = *signal};
  return {};
}

/// "srun: error: node2: task 5: Killed"
std::optional<Notice> notice_in(std::string_view line) {
  if (!line.starts_with("srun: error: ")) return {};
  const auto at = line.find(": task");
  if (at == line.npos) return {};
  line.remove_prefix(at + std::string_view(": task").size());
  if (line.starts_with('s')) line.remove_prefix(1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  const auto rank = take_number(line);
  const auto colon = line.find(": ");
  const auto exit = rank && colon != line.npos ? exit_of(line.substr(colon + 2)) : std::nullopt;
  if (!exit) return {};
  return Notice{*rank, *exit};
}

}  // namespace

TaggedLine parse_labelled(std::string_view line, Stream stream) {
  std::string_view rest = line;
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const auto rank = take_number(rest);
  if (!rank || *rank < 0 || !rest.starts_with(':')) return {{}, stream, std::string(line)};
  rest.remove_prefix(rest.starts_with(": ") ? 2 : 1);
  if (rest.starts_with("slurmstepd")) return {{}, stream, std::string(rest)};
  return {*rank, stream, std::string(rest)};
}

std::optional<Notice> parse_srun_notice(std::string_view own_output) {
  while (!own_output.empty()) {
    const auto line = own_output.substr(0, own_output.find('\n'));
    if (const auto notice = notice_in(line)) return notice;
    own_output.remove_prefix(std::min(line.size() + 1, own_output.size()));
  }
  return {};
}

}  // namespace cpplan::launch
