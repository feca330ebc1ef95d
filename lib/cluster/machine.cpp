#include "cluster/machine.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/files.hpp"
#include "base/text.hpp"

namespace cpplan::cluster {
namespace {

std::optional<Index> leading_number(std::string_view text) {
  text = trimmed(text);
  Index n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} ? std::optional(n) : std::nullopt;
}

/// "MemTotal:       24629560 kB" of /proc/meminfo; its kB are KiB.
std::optional<Bytes> meminfo_entry(std::string_view meminfo, std::string_view name) {
  const auto at = meminfo.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const auto kib = leading_number(meminfo.substr(at + name.size()));
  return kib ? std::optional(Bytes{*kib * 1024}) : std::nullopt;
}

/// Bytes in a file of the control group; none where it is absent or says "max".
std::optional<Bytes> group_bytes(const std::filesystem::path& file) {
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  const auto bytes = leading_number(*text);
  return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
}

Index usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return std::max(1u, std::thread::hardware_concurrency());
}

void apply_group_limit(Machine& machine, const std::filesystem::path& group) {
  const auto limit = group_bytes(group / "memory.max");
  if (!limit || *limit >= machine.total_memory) return;
  machine.total_memory = *limit;
  const Bytes used = group_bytes(group / "memory.current").value_or(Bytes{});
  machine.available_memory = std::min(machine.available_memory, std::max(Bytes{}, *limit - used));
}

}  // namespace

Result<Machine> machine_below(const std::filesystem::path& root) {
  const auto path = root / "proc/meminfo";
  const auto meminfo = read_file(path);
  if (!meminfo) return tl::unexpected(meminfo.error());
  const auto total = meminfo_entry(*meminfo, "MemTotal:");
  const auto available = meminfo_entry(*meminfo, "MemAvailable:");
  if (!total || !available)
    return failure(
        fmt::format("cannot tell the memory of this machine ({} has no MemTotal and "
                    "MemAvailable). use Linux 3.14 or later",
                    path.string()));
  Machine machine{usable_cores(), *total, *available};
  apply_group_limit(machine, root / "sys/fs/cgroup");
  return machine;
}

Result<Machine> this_machine() {
  return machine_below("/");
}

}  // namespace cpplan::cluster
