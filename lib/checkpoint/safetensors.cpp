#include "checkpoint/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/json.hpp"
#include "checkpoint/file.hpp"

namespace cpplan::checkpoint {
namespace {

constexpr Bytes length_bytes{8};
constexpr Bytes most_header_bytes{100'000'000};  // the limit of the format's own library

Bytes little_endian(const std::byte* bytes) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<std::uint64_t>(bytes[i]);
  return {static_cast<Index>(value)};
}

std::string little_endian(Index value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

/// Why a header cannot be used; the caller adds the file.
tl::unexpected<Error> unusable(std::string why) {
  return failure(std::move(why));
}

Result<std::vector<Index>> shape_of(const Json* shape) {
  std::vector<Index> dimensions;
  if (shape == nullptr || !shape->is_array()) return unusable("has no shape");
  for (const Json& size : shape->elements()) {
    if (!size.is_integer() || size.as_integer() < 0) return unusable("has no shape");
    dimensions.push_back(size.as_integer());
  }
  return dimensions;
}

Result<std::pair<Index, Index>> offsets_of(const Json* offsets) {
  if (offsets == nullptr || !offsets->is_array() || offsets->elements().size() != 2 ||
      !offsets->elements()[0].is_integer() || !offsets->elements()[1].is_integer())
    return unusable("has no data_offsets");
  return std::pair(offsets->elements()[0].as_integer(), offsets->elements()[1].as_integer());
}

std::optional<Index> checked_bytes(const StoredTensor& tensor) {
  std::optional<Index> bytes = size_of(tensor.type).count;
  for (const Index size : tensor.shape) bytes = bytes ? checked_multiply(*bytes, size) : bytes;
  return bytes;
}

/// A member of the header. `data`: where the bytes of the tensors begin and end.
Result<StoredTensor> tensor_of(const Json::Member& member, Bytes data, Bytes end) {
  const auto& [name, entry] = member;
  StoredTensor tensor{.name = name};
  const Json* type = entry.find("dtype");
  if (type == nullptr || !type->is_string()) return unusable("has no dtype");
  const auto known = element_type(type->as_string());
  if (!known) return unusable(fmt::format("is of {}, which is not read here", type->as_string()));
  tensor.type = *known;
  auto shape = shape_of(entry.find("shape"));
  if (!shape) return tl::unexpected(shape.error());
  tensor.shape = std::move(*shape);
  const auto offsets = offsets_of(entry.find("data_offsets"));
  if (!offsets) return tl::unexpected(offsets.error());
  const auto [first, last] = *offsets;
  if (first < 0 || last < first || last > (end - data).count)
    return unusable(fmt::format("leaves the file: it ends at byte {} of {}",
                                checked_add(data.count, last).value_or(last), end.count));
  if (checked_bytes(tensor) != last - first)
    return unusable(fmt::format("has {} bytes, which is not its shape", last - first));
  tensor.begin = data + Bytes{first};
  return tensor;
}

Result<std::vector<StoredTensor>> tensors_of(const Json& header, Bytes data, Bytes end) {
  std::vector<StoredTensor> tensors;
  for (const auto& member : header.members()) {
    if (member.first == "__metadata__") continue;
    if (!member.second.is_object())
      return unusable(fmt::format("\"{}\" is no tensor", member.first));
    auto tensor = tensor_of(member, data, end);
    if (!tensor) return unusable(fmt::format("\"{}\" {}", member.first, tensor.error().message));
    tensors.push_back(std::move(*tensor));
  }
  std::ranges::stable_sort(tensors, {}, &StoredTensor::begin);
  for (std::size_t i = 1; i < tensors.size(); ++i)
    if (tensors[i - 1].begin + tensors[i - 1].bytes() > tensors[i].begin)
      return unusable(fmt::format("\"{}\" lies on \"{}\"", tensors[i].name, tensors[i - 1].name));
  return tensors;
}

Result<std::vector<StoredTensor>> read_header(const File& file) {
  const auto size = file.size();
  if (!size) return tl::unexpected(size.error());
  std::array<std::byte, length_bytes.count> length_field;
  if (*size < length_bytes) return unusable("it is shorter than the length of a header");
  if (auto read = file.read({0}, length_field); !read) return tl::unexpected(read.error());
  const Bytes length = little_endian(length_field.data());
  if (length < Bytes{2} || length > most_header_bytes || length_bytes + length > *size)
    return unusable(fmt::format("its header would have {} bytes", length.count));
  std::string text(static_cast<std::size_t>(length.count), '\0');
  if (auto read = file.read(length_bytes, std::as_writable_bytes(std::span(text))); !read)
    return tl::unexpected(read.error());
  const auto header = Json::parse(text);
  if (!header || !header->is_object()) return unusable("its header is no JSON object");
  return tensors_of(*header, length_bytes + length, *size);
}

Json entry_of(const StoredTensor& tensor, Bytes first) {
  Json entry = Json::object();
  entry["dtype"] = name_of(tensor.type);
  entry["shape"] = Json(tensor.shape);
  entry["data_offsets"] = Json(std::vector<Index>{first.count, (first + tensor.bytes()).count});
  return entry;
}

}  // namespace

Index StoredTensor::elements() const {
  Index product = 1;
  for (const Index size : shape) product *= size;
  return product;
}

std::string safetensors_header(std::span<StoredTensor> tensors) {
  Json header = Json::object();
  Json metadata = Json::object();
  metadata["format"] = "pt";  // transformers reads no file without it
  header.append_member("__metadata__", std::move(metadata));
  Bytes end{};
  for (StoredTensor& tensor : tensors) {
    tensor.begin = end;
    header.append_member(tensor.name, entry_of(tensor, end));
    end += tensor.bytes();
  }
  std::string text = header.dump(-1);
  text.resize(static_cast<std::size_t>(round_up(std::ssize(text), 8)), ' ');
  const Bytes data = length_bytes + Bytes{std::ssize(text)};
  for (StoredTensor& tensor : tensors) tensor.begin += data;
  return little_endian(std::ssize(text)) + text;
}

Result<std::vector<StoredTensor>> read_safetensors_header(const std::filesystem::path& path) {
  const auto file = File::open_to_read(path);
  if (!file) return tl::unexpected(file.error());
  auto tensors = read_header(*file);
  if (!tensors)
    return failure(
        fmt::format("{} is no safetensors file ({})", path.string(), tensors.error().message));
  return tensors;
}

}  // namespace cpplan::checkpoint
