#include "base/plugin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/text.hpp"

namespace cpplan {
namespace {
namespace fs = std::filesystem;

std::string text_of(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) names.push_back(folder.string());
  return join_words(names, "or");
}

Result<fs::path> find_plugin(const std::string& file) {
  const auto folders = plugin_folders();
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / file, ignored)) return folder / file;
  }
  return failure(
      fmt::format("there is no {} in {} (it is a part of its own). build it with "
                  "-DCPPLAN_CUDA=ON, or name its folder in CPPLAN_PLUGINS",
                  file, text_of(folders)));
}

/// What the loader said last.
std::string loader_error() {
  const char* const text = dlerror();
  return text ? text : "unknown error";
}

}  // namespace

std::vector<fs::path> plugin_folders() {
  const char* const named = std::getenv("CPPLAN_PLUGINS");
  if (named && *named) return {named};
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  return {here, here.parent_path() / "lib"};
}

Result<void*> open_plugin(const std::string& file, const char* entry) {
  const auto path = find_plugin(file);
  if (!path) return tl::unexpected(path.error());
  void* const plugin = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!plugin)
    return failure(
        fmt::format("cannot open {} ({}). install what it needs", path->string(), loader_error()));
  void* const address = dlsym(plugin, entry);
  if (!address)
    return failure(fmt::format("{} is no plug-in of cpplan ({}). build it again", path->string(),
                               loader_error()));
  return address;
}

}  // namespace cpplan
