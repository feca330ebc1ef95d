#include "app/config_files.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"

namespace cpplan::app {
namespace fs = std::filesystem;
namespace {

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

bool is_yaml(const fs::path& path) {
  const std::string extension = lower_case(path.extension().string());
  return extension == ".yaml" || extension == ".yml";
}

Result<std::vector<std::string>> yaml_files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  try {
    for (fs::recursive_directory_iterator it(folder), end; it != end; ++it) {
      if (is_hidden(it->path())) {
        if (it->is_directory()) it.disable_recursion_pending();
      } else if (it->is_regular_file() && is_yaml(it->path())) {
        files.push_back(it->path());
      }
    }
  } catch (const fs::filesystem_error& error) {
    return failure("cannot read " + folder.string() + " (" + lower_case(error.code().message()) +
                   ")");
  }
  if (files.empty())
    return failure("no config in " + folder.string() +
                   " (no file below it ends in .yaml or .yml). name a config file");
  std::ranges::sort(files);
  return std::vector<std::string>(files.begin(), files.end());
}

}  // namespace

Result<std::vector<std::string>> config_files(const std::string& path) {
  std::error_code ignored;  // whoever reads it says why a path cannot be read
  if (path != "-" && fs::is_directory(path, ignored)) return yaml_files_below(path);
  return std::vector{path};
}

}  // namespace cpplan::app
