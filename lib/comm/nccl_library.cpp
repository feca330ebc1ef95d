#include "comm/nccl_library.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/plugin.hpp"

namespace cpplan::comm {
namespace {

Result<const NcclPlugin*> open_nccl_library() {
  const auto entry = open_plugin(nccl_plugin_file, nccl_plugin_entry);
  if (!entry) return tl::unexpected(entry.error());
  const NcclPlugin* const plugin = reinterpret_cast<NcclPluginEntry>(*entry)();
  if (std::string_view(plugin->cpplan_version) != CPPLAN_VERSION)
    return failure(
        fmt::format("{} is of cpplan {}, and this is {} (they are built together). "
                    "install both from one build",
                    nccl_plugin_file, plugin->cpplan_version, CPPLAN_VERSION));
  return plugin;
}

}  // namespace

Result<const NcclPlugin*> nccl_library() {
  static const auto library = open_nccl_library();
  return library;
}

std::string nccl_version_text(int version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace cpplan::comm
