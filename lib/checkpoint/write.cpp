#include "checkpoint/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/contract.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "checkpoint/checksum.hpp"
#include "checkpoint/file.hpp"
#include "checkpoint/slice_writer.hpp"

namespace cpplan::checkpoint {
namespace fs = std::filesystem;
namespace {

Result<void> prepare(const fs::path& path, const PlannedFile& planned) {
  auto file = File::create(path, planned.size);
  if (!file) return tl::unexpected(file.error());
  auto written = file->write({0}, std::as_bytes(std::span(planned.header)));
  return written ? file->sync() : written;
}

Result<void> fill(const fs::path& temporary, const FileSet& set,
                  std::span<const SideFile> side_files) {
  for (const PlannedFile& file : set.files())
    if (auto prepared = prepare(temporary / file.name, file); !prepared) return prepared;
  for (const SideFile& file : side_files)
    if (auto written = write_file_atomically(temporary / file.name, file.content); !written)
      return written;
  sync_folder(temporary);
  return {};
}

constexpr Index most_at_once = 16 << 20;  // bytes

/// In parts, so that a rank that must end does not write gigabytes first.
Result<void> write_stoppable(const Piece& piece, Index size, SliceWriter& writer,
                             const std::stop_token& stop) {
  if (auto begun = writer.begin(piece.tensor, piece.slice); !begun) return begun;
  auto bytes = piece.bytes.first(static_cast<std::size_t>(valid_elements(piece.slice) * size));
  while (!bytes.empty()) {
    if (stop.stop_requested()) return failure("it was stopped");
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), most_at_once));
    if (auto written = writer.write(part); !written) return written;
    bytes = bytes.subspan(part.size());
  }
  return {};
}

std::vector<FileEntry> entries_of(const FileSet& set, std::span<const SideFile> side_files) {
  std::vector<FileEntry> entries;
  for (const PlannedFile& file : set.files())
    entries.push_back({file.name, file.size, {std::ssize(file.header)}, checksum_of(file.header)});
  for (const SideFile& file : side_files)
    entries.push_back({file.name,
                       {std::ssize(file.content)},
                       {std::ssize(file.content)},
                       checksum_of(file.content)});
  return entries;
}

Result<std::vector<SliceEntry>> read_accounts(const fs::path& temporary, int world) {
  std::vector<SliceEntry> all;
  for (int rank = 0; rank < world; ++rank) {
    auto slices = read_file(account_file(temporary, rank)).and_then(slices_of_account);
    if (!slices) return slices;
    all.insert(all.end(), slices->begin(), slices->end());
  }
  return all;
}

void expect_every_element(const FileSet& set, const std::vector<SliceEntry>& slices) {
  std::map<std::string, Index, std::less<>> written;
  for (const SliceEntry& entry : slices) written[entry.tensor] += valid_elements(entry.slice);
  for (const auto& [name, place] : set.places())
    expect(written[name] == place.tensor.elements(),
           "the slices of a checkpoint are all of every tensor");
}

/// Where the disk is too full for the files: by how much.
tl::unexpected<Error> explained(const Error& error, const fs::path& folder, const FileSet& set) {
  Bytes needed{};
  for (const PlannedFile& file : set.files()) needed += file.size;
  std::error_code unknown;
  const auto space = fs::space(folder, unknown);
  if (unknown || Bytes{static_cast<Index>(space.available)} >= needed) return tl::unexpected(error);
  return failure(fmt::format(
      "{} ({} has {} bytes free, and a checkpoint takes {}). free {} bytes, or keep fewer with "
      "save_total_limit: 1",
      error.message, folder.string(), with_thousands(static_cast<Index>(space.available)),
      with_thousands(needed.count),
      with_thousands(needed.count - static_cast<Index>(space.available))));
}

/// Never deleted: it may be the only trace of what went wrong.
Result<void> set_aside(const fs::path& final, const std::string& run) {
  std::error_code error;
  if (!fs::exists(final, error)) return {};
  fs::rename(final, fmt::format("{}.replaced-by-{}", final.string(), run), error);
  if (error) return system_failure("rename", final, error.value());
  return {};
}

}  // namespace

Result<void> prepare_files(const fs::path& temporary, const FileSet& set,
                           std::span<const SideFile> side_files) {
  std::error_code error;
  if (!fs::create_directory(temporary, error))
    return system_failure("make", temporary, error ? error.value() : EEXIST);
  auto prepared = fill(temporary, set, side_files);
  if (prepared) return {};
  fs::remove_all(temporary, error);  // gives a full disk its room back
  return explained(prepared.error(), temporary.parent_path(), set);
}

Result<void> write_pieces(const fs::path& temporary, const FileSet& set, int rank,
                          std::span<const Piece> pieces, const std::stop_token& stop) {
  SliceWriter writer(temporary, set);
  for (const Piece& piece : pieces) {
    const Index size = size_of(set.place(piece.tensor).tensor.type).count;
    if (auto written = write_stoppable(piece, size, writer, stop); !written) return written;
  }
  return writer.finish(rank);
}

Result<void> seal(const fs::path& temporary, const fs::path& final, const FileSet& set,
                  std::span<const SideFile> side_files, Manifest manifest, int world) {
  auto slices = read_accounts(temporary, world);
  if (!slices) return tl::unexpected(slices.error());
  expect_every_element(set, *slices);
  manifest.slices = std::move(*slices);
  manifest.files = entries_of(set, side_files);
  std::error_code ignored;
  for (int rank = 0; rank < world; ++rank) fs::remove(account_file(temporary, rank), ignored);
  if (auto written = write_file_atomically(temporary / manifest_name, to_text(manifest)); !written)
    return written;
  if (auto free = set_aside(final, manifest.run); !free) return free;
  std::error_code error;
  fs::rename(temporary, final, error);
  if (error) return system_failure("rename", temporary, error.value());
  sync_folder(final.parent_path());
  return {};
}

}  // namespace cpplan::checkpoint
