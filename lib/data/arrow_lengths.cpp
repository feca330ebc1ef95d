// Row lengths of a prepared dataset through Arrow's C++ library; no_arrow_lengths.cpp is its twin.
#include <arrow/api.h>
#include <arrow/io/api.h>
#include <arrow/ipc/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <system_error>

#include "data/length_readers.hpp"

namespace cpplan::data {
namespace fs = std::filesystem;
namespace {

tl::unexpected<Error> cannot_read(const fs::path& path, std::string_view why) {
  return failure(fmt::format(
      "cannot read the dataset {} ({}). give its row lengths with --lengths FILE, one integer a "
      "line or .npy",
      path.string(), why));
}

Result<std::vector<fs::path>> streams_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error))
    if (it->path().extension() == ".arrow") files.push_back(it->path());
  if (error) return cannot_read(folder, error.message());
  if (files.empty()) return cannot_read(folder, "no .arrow file in it");
  std::ranges::sort(files);  // data-00000-of-00002.arrow: the order of the rows
  return files;
}

bool append(Lengths& lengths, std::int64_t length) {
  if (length < 0 || length > std::numeric_limits<Length>::max()) return false;
  lengths.push_back(static_cast<Length>(length));
  return true;
}

template <class Array>
bool append_values(Lengths& lengths, const arrow::Array& column) {
  const auto& values = static_cast<const Array&>(column);
  for (std::int64_t row = 0; row < values.length(); ++row)
    if (values.IsNull(row) || !append(lengths, static_cast<std::int64_t>(values.Value(row))))
      return false;
  return true;
}

template <class Array>
bool append_sizes(Lengths& lengths, const arrow::Array& column) {
  const auto& lists = static_cast<const Array&>(column);
  for (std::int64_t row = 0; row < lists.length(); ++row)
    if (lists.IsNull(row) || !append(lengths, lists.value_length(row))) return false;
  return true;
}

bool append_column(Lengths& lengths, const arrow::Array& column) {
  switch (column.type_id()) {
    case arrow::Type::INT32:
      return append_values<arrow::Int32Array>(lengths, column);
    case arrow::Type::INT64:
      return append_values<arrow::Int64Array>(lengths, column);
    case arrow::Type::LIST:
      return append_sizes<arrow::ListArray>(lengths, column);
    case arrow::Type::LARGE_LIST:
      return append_sizes<arrow::LargeListArray>(lengths, column);
    default:
      return false;
  }
}

std::shared_ptr<arrow::Array> lengths_column(const arrow::RecordBatch& batch) {
  const auto length = batch.GetColumnByName("length");
  return length ? length : batch.GetColumnByName("input_ids");
}

/// Status of Arrow as an error of ours.
Result<void> append_stream(Lengths& lengths, const fs::path& file) {
  const auto mapped = arrow::io::MemoryMappedFile::Open(file.string(), arrow::io::FileMode::READ);
  if (!mapped.ok()) return cannot_read(file, mapped.status().message());
  const auto reader = arrow::ipc::RecordBatchStreamReader::Open(*mapped);
  if (!reader.ok()) return cannot_read(file, reader.status().message());
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    if (const auto status = (*reader)->ReadNext(&batch); !status.ok())
      return cannot_read(file, status.message());
    if (!batch) return {};
    if (const auto status = batch->ValidateFull(); !status.ok())
      return cannot_read(file, status.message());
    const auto column = lengths_column(*batch);
    if (!column) return cannot_read(file, "it has neither a column length nor input_ids");
    if (!append_column(lengths, *column))
      return cannot_read(file, "length or input_ids is null, out of range or of another type");
  }
}

}  // namespace

Result<Lengths> lengths_of_arrow(const fs::path& folder) {
  const auto files = streams_below(folder);
  if (!files) return tl::unexpected(files.error());
  Lengths lengths;
  for (const fs::path& file : *files)
    if (const auto read = append_stream(lengths, file); !read) return tl::unexpected(read.error());
  return lengths;
}

}  // namespace cpplan::data
