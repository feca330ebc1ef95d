#include "app/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/usage.hpp"
#include "plan/as_version.hpp"

namespace cpplan::app {

Result<Index> parse_count(const std::string& text) {
  Index count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc::result_out_of_range)
    return failure(
        fmt::format("\"{}\" is too large (it does not fit 64 bits). use a smaller number", text));
  if (error != std::errc() || stop != end || count < 1)
    return failure(fmt::format(
        "\"{}\" is no count (it must be a whole number from 1 on). use 1 or more", text));
  return count;
}

Result<double> parse_seconds(const std::string& text) {
  double seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || stop != end || !(seconds > 0 && seconds <= 1e6))
    return failure(
        fmt::format("\"{}\" is no time (it must be seconds above 0, at most 1e6). use 60", text));
  return seconds;
}

Result<plan::Version> parse_version(const std::string& text) {
  if (const auto version = plan::parse_version(text)) return *version;
  return failure(unknown_word("version", text, plan::version_names()));
}

Result<std::string> parse_assignment(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == text.npos)
    return failure(fmt::format(
        "\"{}\" sets nothing (it is not of the form key=value). write --set micro_batch_size=2",
        text));
  return text;
}

Result<std::size_t> parse_choice(const std::string& text, std::span<const std::string> names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return failure(unknown_word("choice", text, names));
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace cpplan::app
