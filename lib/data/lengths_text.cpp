#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "base/text.hpp"
#include "data/length_readers.hpp"

namespace cpplan::data {
namespace {

constexpr std::size_t longest_quote = 40;  // characters of a wrong line that a message shows

std::optional<Length> parse_length(std::string_view line) {
  Length length = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length);
  if (error != std::errc() || end != line.data() + line.size() || length < 0) return std::nullopt;
  return length;
}

std::string quoted(std::string_view line) {
  const bool cut = line.size() > longest_quote;
  std::string text;
  for (const char c : line.substr(0, longest_quote))
    text += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
  return fmt::format("\"{}{}\"", text, cut ? "..." : "");
}

}  // namespace

Result<Lengths> lengths_of_text(const std::string& name, std::string_view content) {
  Lengths lengths;
  Index number = 0;
  while (!content.empty()) {
    ++number;
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = trimmed(content.substr(0, end));
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.empty()) continue;
    const auto length = parse_length(line);
    if (!length)
      return failure(fmt::format(
          "{}:{}: {} is no length (a length is an integer from 0 to {}). write one integer a line",
          name, number, quoted(line), std::numeric_limits<Length>::max()));
    lengths.push_back(*length);
  }
  return lengths;
}

}  // namespace cpplan::data
