#pragma once
// UTF-8 one code point at a time, and how wide a terminal draws it.
#include <string>
#include <string_view>

namespace cpplan::diag {

struct CodePoint {
  char32_t value = 0;
  std::string_view bytes;
  bool valid = true;  // false: one byte that is no UTF-8 (overlong forms and surrogates included)
};

/// Takes the first code point off a text that is not empty.
CodePoint take_code_point(std::string_view& text);

int count_code_points(std::string_view text);

/// C0 (tab included), DEL and C1.
bool is_control(char32_t c);

/// Columns of a terminal: 0 for combining and zero-width characters, 2 for wide ones (East Asian
/// Width W and F, Unicode 15), else 1.
int display_width(char32_t c);

/// "U+200B".
std::string code_point_name(char32_t c);

}  // namespace cpplan::diag
