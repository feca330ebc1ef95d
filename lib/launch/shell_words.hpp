#pragma once
// A line for a shell as the words that the shell would make of it, each with its place in the line.
#include <string>
#include <vector>

#include "base/result.hpp"
#include "diag/source_file.hpp"

namespace cpplan::launch {

struct Word {
  std::string text;  // without its quotes
  diag::Span span;
  std::size_t begin = 0, end = 0;  // bytes of the line, quotes included
  bool expands = false;            // holds a $ or a ` that the shell replaces: its value is unknown
};

using Words = std::vector<Word>;

/// The simple commands of a line, which ; & | and line breaks separate; redirections and comments
/// are left out. Error: a quote that is not closed.
tl::expected<std::vector<Words>, diag::Diagnostic> split_commands(const diag::SourceFile& line);

/// The same of the bytes [begin, end): the script of a `bash -c` is part of a longer line.
tl::expected<std::vector<Words>, diag::Diagnostic> split_commands(const diag::SourceFile& line,
                                                                  std::size_t begin,
                                                                  std::size_t end);

}  // namespace cpplan::launch
