#include "checkpoint/slice_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/contract.hpp"
#include "base/files.hpp"

namespace cpplan::checkpoint {
namespace fs = std::filesystem;

fs::path account_file(const fs::path& temporary, int rank) {
  return temporary / fmt::format("rank-{}.json", rank);
}

SliceWriter::SliceWriter(const fs::path& temporary, const FileSet& set)
    : folder_(temporary), set_(set), files_(set.files().size()) {}

Result<File*> SliceWriter::file(std::size_t number) {
  auto& file = files_[number];
  if (!file) {
    auto opened = File::open_to_write(folder_ / set_.files()[number].name);
    if (!opened) return tl::unexpected(opened.error());
    file = std::move(*opened);
  }
  return &*file;
}

Result<void> SliceWriter::begin(const std::string& tensor, const Slice& slice) {
  close_slice();
  place_ = &set_.place(tensor);
  cursor_ = {.runs = runs_of(slice)};
  checksum_.emplace();
  entries_.push_back({tensor, slice, 0});
  return file(place_->file).map([](File*) {});
}

Result<void> SliceWriter::write(std::span<const std::byte> bytes) {
  const Index size = size_of(place_->tensor.type).count;
  checksum_->add(bytes);
  while (!bytes.empty()) {
    expect(cursor_.run < cursor_.runs.size(), "a slice has no more bytes than its elements");
    const Run& run = cursor_.runs[cursor_.run];
    const Index left = run.count * size - cursor_.done;
    const auto part = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(left)));
    const Bytes at = place_->tensor.begin + Bytes{run.in_tensor * size + cursor_.done};
    if (auto written = files_[place_->file]->write(at, part); !written) return written;
    bytes = bytes.subspan(part.size());
    cursor_.done += std::ssize(part);
    if (cursor_.done == run.count * size) ++cursor_.run, cursor_.done = 0;
  }
  return {};
}

void SliceWriter::close_slice() {
  if (place_ == nullptr) return;
  expect(cursor_.run == cursor_.runs.size(), "a slice is written to its end");
  entries_.back().checksum = checksum_->value();
}

Result<void> SliceWriter::finish(int rank) {
  close_slice();
  for (auto& file : files_)
    if (file)
      if (auto synced = file->sync(); !synced) return synced;
  return write_file_atomically(account_file(folder_, rank), account_of(entries_));
}

}  // namespace cpplan::checkpoint
