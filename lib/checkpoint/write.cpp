#include "checkpoint/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/contract.hpp"
#include "base/files.hpp"
#include "checkpoint/checksum.hpp"
#include "checkpoint/file.hpp"

namespace cpplan::checkpoint {
namespace fs = std::filesystem;
namespace {

fs::path account_file(const fs::path& temporary, int rank) {
  return temporary / fmt::format("rank-{}.json", rank);
}

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

/// The files that a rank writes to, each opened once.
class OpenFiles {
 public:
  OpenFiles(const fs::path& folder, const FileSet& set)
      : folder_(folder), set_(set), files_(set.files().size()) {}

  Result<File*> file(std::size_t number) {
    auto& file = files_[number];
    if (!file) {
      auto opened = File::open_to_write(folder_ / set_.files()[number].name);
      if (!opened) return tl::unexpected(opened.error());
      file = std::move(*opened);
    }
    return &*file;
  }

  Result<void> sync() {
    for (auto& file : files_)
      if (file)
        if (auto synced = file->sync(); !synced) return synced;
    return {};
  }

 private:
  const fs::path& folder_;
  const FileSet& set_;
  std::vector<std::optional<File>> files_;
};

constexpr Index most_at_once = 16 << 20;  // bytes

/// In pieces, so that a rank that must end does not write gigabytes first.
Result<void> write_stoppable(File& file, Bytes at, std::span<const std::byte> bytes,
                             const std::stop_token& stop) {
  while (!bytes.empty()) {
    if (stop.stop_requested()) return failure("it was stopped");
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), most_at_once));
    if (auto written = file.write(at, part); !written) return written;
    bytes = bytes.subspan(part.size());
    at += {std::ssize(part)};
  }
  return {};
}

Result<SliceEntry> write_piece(const Piece& piece, const FileSet::Place& place, File& file,
                               const std::stop_token& stop) {
  const Index size = size_of(place.tensor.type).count;
  Checksum checksum;
  for (const Run& run : runs_of(piece.slice)) {
    const auto bytes = piece.bytes.subspan(static_cast<std::size_t>(run.in_slice * size),
                                           static_cast<std::size_t>(run.count * size));
    const Bytes at = place.tensor.begin + Bytes{run.in_tensor * size};
    if (auto written = write_stoppable(file, at, bytes, stop); !written)
      return tl::unexpected(written.error());
    checksum.add(bytes);
  }
  return SliceEntry{piece.tensor, piece.slice, checksum.value()};
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
  if (!prepared) fs::remove_all(temporary, error);  // gives a full disk its room back
  return prepared;
}

Result<void> write_pieces(const fs::path& temporary, const FileSet& set, int rank,
                          std::span<const Piece> pieces, const std::stop_token& stop) {
  OpenFiles files(temporary, set);
  std::vector<SliceEntry> entries;
  for (const Piece& piece : pieces) {
    const auto& place = set.place(piece.tensor);
    const auto file = files.file(place.file);
    if (!file) return tl::unexpected(file.error());
    auto entry = write_piece(piece, place, **file, stop);
    if (!entry) return tl::unexpected(entry.error());
    entries.push_back(std::move(*entry));
  }
  if (auto synced = files.sync(); !synced) return synced;
  return write_file_atomically(account_file(temporary, rank), account_of(entries));
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
