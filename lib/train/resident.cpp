#include "train/resident.hpp"

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"

namespace cpplan::train {
namespace {

/// "VmHWM:     29560 kB" of /proc/self/status; its kB are KiB.
std::optional<Bytes> status_entry(std::string_view name) {
  const auto status = read_file("/proc/self/status");
  const auto at = status ? status->find(name) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = trimmed(std::string_view(*status).substr(at + name.size()));
  Index kib = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), kib);
  return error == std::errc() ? std::optional(Bytes{kib * 1024}) : std::nullopt;
}

/// Linux since 4.0: 5 sets VmHWM back to VmRSS (proc(5)).
bool reset_high_water_mark() {
  std::ofstream file("/proc/self/clear_refs");
  file << 5 << std::flush;
  return file.good();
}

}  // namespace

ResidentGrowth::ResidentGrowth() {
  if (reset_high_water_mark()) before_ = status_entry("VmRSS:");
}

std::optional<Bytes> ResidentGrowth::peak() const {
  const auto most = status_entry("VmHWM:");
  return before_ && most ? std::optional(*most - *before_) : std::nullopt;
}

}  // namespace cpplan::train
