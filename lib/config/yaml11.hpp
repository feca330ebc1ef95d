#pragma once
// What a scalar means under YAML 1.1 as PyYAML's safe loader resolves it: `no` is false, 010 is 8,
// 10:00 is 600 and 1e3 is text.
#include "base/units.hpp"
#include "config/document.hpp"

namespace cpplan::config {

enum class ScalarType { null, boolean, integer, real, date, text };
enum class Notation { plain, octal, hexadecimal, binary, sexagesimal };

struct Scalar {
  ScalarType type = ScalarType::text;
  Notation notation = Notation::plain;
  bool boolean = false;
  Index integer = 0;
  bool fits = true;  // an integer that 64 bits cannot hold is false; `real` is then its value
  double real = 0;   // of a real, and of an integer
};

/// Resolves by PyYAML's implicit rules. Quoted and block scalars are text unless a tag says more.
Scalar resolve(const Node& node);

/// The same of plain text.
Scalar resolve_plain(std::string_view text);

/// Nothing, `null` or `~`, without quotes.
bool reads_as_null(const Node& node);

/// The member of a mapping where its value is not null; else nullptr.
const Member* find_given(const Node& mapping, std::string_view key);

}  // namespace cpplan::config
