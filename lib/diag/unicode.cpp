#include "diag/unicode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace cpplan::diag {
namespace {

struct Range {
  char32_t first, last;
};

constexpr std::array zero_width = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x0610, 0x061A},
    Range{0x064B, 0x065F}, Range{0x0E34, 0x0E3A}, Range{0x0E47, 0x0E4E}, Range{0x1AB0, 0x1AFF},
    Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F}, Range{0x2028, 0x202E}, Range{0x2060, 0x2064},
    Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}, Range{0xFEFF, 0xFEFF}};

constexpr std::array wide = {
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x2329, 0x232A},
    Range{0x23E9, 0x23EC},   Range{0x25FD, 0x25FE},   Range{0x2614, 0x2615},
    Range{0x2648, 0x2653},   Range{0x26AA, 0x26AB},   Range{0x26BD, 0x26BE},
    Range{0x2705, 0x2705},   Range{0x274C, 0x274C},   Range{0x2753, 0x2755},
    Range{0x2795, 0x2797},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},
    Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},   Range{0xA000, 0xA4CF},
    Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x16FE0, 0x18AFF}, Range{0x1B000, 0x1B2FF}, Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x1FA70, 0x1FAFF},
    Range{0x20000, 0x3FFFD}};

bool contains(std::span<const Range> ranges, char32_t c) {
  const auto at = std::lower_bound(ranges.begin(), ranges.end(), c,
                                   [](const Range& r, char32_t value) { return r.last < value; });
  return at != ranges.end() && at->first <= c;
}

struct Lead {
  std::size_t length;
  char32_t bits, smallest;
};

Lead decode_lead(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xE0) == 0xC0) return {2, static_cast<char32_t>(byte & 0x1F), 0x80};
  if ((byte & 0xF0) == 0xE0) return {3, static_cast<char32_t>(byte & 0x0F), 0x800};
  if ((byte & 0xF8) == 0xF0) return {4, static_cast<char32_t>(byte & 0x07), 0x10000};
  return {0, 0, 0};
}

bool is_scalar_value(char32_t c) {
  return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
}

CodePoint take_byte(std::string_view& text) {
  const CodePoint bad{static_cast<unsigned char>(text[0]), text.substr(0, 1), false};
  text.remove_prefix(1);
  return bad;
}

}  // namespace

CodePoint take_code_point(std::string_view& text) {
  const Lead lead = decode_lead(static_cast<unsigned char>(text[0]));
  if (lead.length == 0 || lead.length > text.size()) return take_byte(text);
  char32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return take_byte(text);
    value = value << 6 | (byte & 0x3Fu);
  }
  if (value < lead.smallest || !is_scalar_value(value)) return take_byte(text);
  const CodePoint taken{value, text.substr(0, lead.length), true};
  text.remove_prefix(lead.length);
  return taken;
}

int count_code_points(std::string_view text) {
  int count = 0;
  for (; !text.empty(); ++count) take_code_point(text);
  return count;
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

int display_width(char32_t c) {
  if (c < 0x300) return 1;
  if (contains(zero_width, c)) return 0;
  return contains(wide, c) ? 2 : 1;
}

std::string code_point_name(char32_t c) {
  return fmt::format("U+{:04X}", static_cast<std::uint32_t>(c));
}

}  // namespace cpplan::diag
