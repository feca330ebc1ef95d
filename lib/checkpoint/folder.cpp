#include "checkpoint/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "base/files.hpp"

namespace cpplan::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view prefix = "step-";

/// The step of a final name.
std::optional<Index> step_of(std::string_view name) {
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  Index step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size() || step < 0) return {};
  return step;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code unreadable;
  for (fs::directory_iterator at(folder, unreadable), end; !unreadable && at != end;
       at.increment(unreadable))
    entries.push_back(at->path());
  return entries;
}

Result<void> check_file(const fs::path& path, const FileEntry& entry) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return system_failure("read", path, error.value());
  if (Bytes{static_cast<Index>(size)} != entry.size)
    return failure(
        fmt::format("{} has {} bytes in place of {}", entry.name, size, entry.size.count));
  return {};
}

/// Under another name first: a folder that is half deleted is none.
void remove_step(const fs::path& path) {
  const fs::path doomed = path.string() + ".deleted";
  std::error_code ignored;
  fs::remove_all(doomed, ignored);
  fs::rename(path, doomed, ignored);
  if (!ignored) fs::remove_all(doomed, ignored);
}

}  // namespace

fs::path step_folder(const fs::path& folder, Index step) {
  return folder / fmt::format("{}{}", prefix, step);
}

fs::path temporary_folder(const fs::path& folder, Index step, std::string_view run) {
  return step_folder(folder, step).string() + ".tmp-" + std::string(run);
}

std::vector<Index> steps_in(const fs::path& folder) {
  std::vector<Index> steps;
  for (const fs::path& entry : entries_of(folder))
    if (const auto step = step_of(entry.filename().string())) steps.push_back(*step);
  std::ranges::sort(steps, std::greater());
  return steps;
}

Result<Manifest> read_manifest(const fs::path& step_folder) {
  const auto incomplete = [&](const Error& why) {
    return failure(
        fmt::format("{} is no complete checkpoint ({})", step_folder.string(), why.message));
  };
  const auto text = read_file(step_folder / manifest_name);
  if (!text) return incomplete(text.error());
  auto manifest = manifest_of(*text);
  if (!manifest)
    return incomplete({fmt::format("{}: {}", manifest_name, manifest.error().message)});
  for (const FileEntry& file : manifest->files)
    if (const auto right = check_file(step_folder / file.name, file); !right)
      return incomplete(right.error());
  return manifest;
}

std::vector<Candidate> candidates_in(const fs::path& folder) {
  std::vector<Candidate> candidates;
  for (const Index step : steps_in(folder)) {
    const fs::path path = step_folder(folder, step);
    candidates.push_back({path, read_manifest(path)});
  }
  return candidates;
}

std::vector<Candidate> candidates_at(const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path / manifest_name, ignored) || step_of(path.filename().string()))
    return {{path, read_manifest(path)}};
  return candidates_in(path);
}

void remove_old(const fs::path& folder, const Retention& retention) {
  if (!retention.newest) return;
  Index kept = 0;
  for (const auto& [path, manifest] : candidates_in(folder)) {
    if (!manifest || kept++ < *retention.newest) continue;
    if (retention.every && manifest->step % *retention.every == 0) continue;
    remove_step(path);
  }
}

void remove_remains(const fs::path& folder) {
  for (const fs::path& entry : entries_of(folder)) {
    const std::string name = entry.filename().string();
    const bool unfinished = name.find(".tmp-") != name.npos || name.ends_with(".deleted");
    std::error_code ignored;
    if (unfinished && step_of(name.substr(0, name.find('.')))) fs::remove_all(entry, ignored);
  }
}

}  // namespace cpplan::checkpoint
