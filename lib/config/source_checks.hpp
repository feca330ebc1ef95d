#pragma once
// What can be said about a file's bytes and characters: encoding, tabs, invisible characters; and
// where tokens of YAML end in the text.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "diag/source_file.hpp"

namespace cpplan::config {

/// A stretch of bytes, end exclusive.
struct Stretch {
  std::size_t begin = 0, end = 0;
};

constexpr std::size_t max_file_size = std::size_t{4} << 20;

/// Takes off a UTF-8 byte order mark, which PyYAML strips as well.
std::string without_byte_order_mark(std::string text);

/// With a line feed wherever PyYAML sees the end of a line: a carriage return alone, U+0085, U+2028
/// and U+2029 end one for it, and for nobody else. As many bytes as before.
std::string with_line_feeds(std::string text);

/// CP001: `%` directives in front of a document that does not begin with `---`.
void check_directives(const diag::SourceFile& source, diag::Diagnostics& findings);

/// UTF-16, bytes that are no UTF-8, control characters, more than max_file_size: CP004.
/// True where the text can be parsed.
bool check_encoding(const diag::SourceFile& source, diag::Diagnostics& findings);

/// Tabs between tokens (CP002), zero-width and no-break spaces (CP005, CP015) outside of comments
/// and of the opaque stretches (quoted and block scalars).
void check_characters(const diag::SourceFile& source, const std::vector<Stretch>& opaque,
                      diag::Diagnostics& findings);

/// First byte at or after `at` that belongs to the node itself: past its `&anchor`, its `!tag` and
/// the white space and comments after them.
std::size_t skip_properties(std::string_view text, std::size_t at);

/// Past white space, line breaks and comments.
std::size_t skip_blank(std::string_view text, std::size_t at);

/// End of the quoted scalar whose quote stands at `at`.
std::size_t quoted_end(std::string_view text, std::size_t at);

/// End of the block scalar whose `|` or `>` stands at `at`: behind its last line.
std::size_t block_end(std::string_view text, std::size_t at);

/// End of the plain scalar at `at` that reads `value`: of its first line where it has several.
std::size_t plain_end(std::string_view text, std::size_t at, std::string_view value);

}  // namespace cpplan::config
