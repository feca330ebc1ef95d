#include <fmt/format.h>

#include <limits>

#include "data/length_readers.hpp"
#include "data/text_files.hpp"

namespace cpplan::data {

Result<Lengths> lengths_of_jsonl(const std::filesystem::path& file) {
  const auto documents = read_documents(file);
  if (!documents) return tl::unexpected(documents.error());
  Lengths lengths;
  lengths.reserve(documents->size());
  for (const std::string& document : *documents) {
    if (document.size() > std::numeric_limits<Length>::max())
      return failure(fmt::format(
          "row {} of {} has {} bytes (lengths go up to {}). give its tokens with --lengths FILE, "
          "one integer a line",
          lengths.size() + 1, file.string(), document.size(), std::numeric_limits<Length>::max()));
    lengths.push_back(static_cast<Length>(document.size()));
  }
  return lengths;
}

}  // namespace cpplan::data
