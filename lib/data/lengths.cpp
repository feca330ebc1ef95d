#include "data/lengths.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "data/length_readers.hpp"
#include "data/mapped_file.hpp"

namespace cpplan::data {
namespace fs = std::filesystem;
namespace {

Result<Lengths> lengths_of_content(const std::string& name, std::string_view content) {
  return is_npy(content) ? lengths_of_npy(name, content) : lengths_of_text(name, content);
}

Result<Lengths> lengths_of_standard_input() {
  const auto content = read_standard_input();
  if (!content) return tl::unexpected(content.error());
  return lengths_of_content("standard input", *content);
}

Result<Lengths> lengths_of_plain_file(const std::string& path) {
  const auto content = read_file(path);
  if (!content) return tl::unexpected(content.error());
  return lengths_of_content(path, *content);
}

Result<Lengths> lengths_of_index(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  return lengths_of_idx(path, file->content());
}

Result<Lengths> lengths_of_path(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return lengths_of_arrow(path);
  const std::string extension = lower_case(fs::path(path).extension().string());
  if (extension == ".jsonl") return lengths_of_jsonl(path);
  if (extension == ".idx") return lengths_of_index(path);
  return lengths_of_plain_file(path);
}

bool is_jsonl(const std::string& path) {
  return lower_case(fs::path(path).extension().string()) == ".jsonl";
}

}  // namespace

Result<RowLengths> read_lengths(const std::string& path) {
  const bool piped = path == "-";
  auto rows = piped ? lengths_of_standard_input() : lengths_of_path(path);
  if (!rows) return tl::unexpected(rows.error());
  const std::string source = piped ? "standard input" : path;
  if (rows->empty())
    return failure(fmt::format(
        "no row in {} (nothing can be trained on no row). name a file with a length a line",
        source));
  return RowLengths{std::move(*rows), is_jsonl(path) ? LengthUnit::bytes : LengthUnit::tokens,
                    source};
}

}  // namespace cpplan::data
