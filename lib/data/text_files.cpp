#include "data/text_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "base/text.hpp"

namespace cpplan::data {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 17> text_extensions = {
    ".md",   ".txt", ".cpp",  ".hpp",   ".h",  ".c",     ".cu",  ".cuh", ".py",
    ".yaml", ".yml", ".json", ".jsonl", ".sh", ".cmake", ".rst", ".toml"};

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

bool is_passed_over(const fs::path& folder) {
  return is_hidden(folder) || folder.filename() == "build";
}

bool is_text(const fs::directory_entry& entry) {
  if (is_hidden(entry.path()) || !entry.is_regular_file()) return false;
  const std::string extension = lower_case(entry.path().extension().string());
  return std::ranges::count(text_extensions, extension) != 0;
}

Result<std::vector<fs::path>> text_files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  try {
    for (auto it = fs::recursive_directory_iterator(folder);
         it != fs::recursive_directory_iterator(); ++it) {
      if (it->is_directory() && is_passed_over(it->path())) it.disable_recursion_pending();
      if (is_text(*it)) files.push_back(it->path());
    }
  } catch (const fs::filesystem_error& error) {
    return failure(
        fmt::format("cannot read {} ({})", folder.string(), lower_case(error.code().message())));
  }
  if (files.empty())
    return failure(fmt::format("no text in {} (no file below it ends in {}). name a text file",
                               folder.string(), fmt::join(text_extensions, ", ")));
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<fs::path>> text_files(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return failure(fmt::format("cannot read {} ({})", path.string(), lower_case(error.message())));
  if (fs::is_directory(status)) return text_files_below(path);
  return std::vector{path};
}

}  // namespace cpplan::data
