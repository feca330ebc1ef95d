#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "data/sample_source.hpp"
#include "data/text_files.hpp"

namespace cpplan::data {
namespace {

constexpr Index least_tokens = 2;  // one to read, one to predict

void append_rows(Rows& rows, const std::string& document, Index sequence_len) {
  for (Index from = 0; from < std::ssize(document); from += sequence_len) {
    const Index count = std::min(sequence_len, std::ssize(document) - from);
    if (count < least_tokens) continue;
    const auto first = document.begin() + from;
    rows.emplace_back(first, first + count);
  }
}

Result<void> append_rows_of(Rows& rows, const std::string& path, Index sequence_len) {
  const auto files = text_files(path);
  if (!files) return tl::unexpected(files.error());
  for (const auto& file : *files) {
    const auto documents = read_documents(file);
    if (!documents) return tl::unexpected(documents.error());
    for (const std::string& document : *documents) append_rows(rows, document, sequence_len);
  }
  return {};
}

}  // namespace

Result<Rows> read_rows(const std::vector<std::string>& paths, Index sequence_len) {
  if (sequence_len < least_tokens)
    return failure("sequence_len is " + std::to_string(sequence_len) +
                   " (a sequence holds a token and the one that follows it). use 2 or more");
  Rows rows;
  for (const std::string& path : paths)
    if (const auto read = append_rows_of(rows, path, sequence_len); !read)
      return tl::unexpected(read.error());
  if (paths.empty()) return failure("no text to read (no path is given). name a file or a folder");
  if (rows.empty())
    return failure("no text in " + join_words(paths, "and") +
                   " (no document has two bytes or more). name a file that holds text");
  return rows;
}

}  // namespace cpplan::data
