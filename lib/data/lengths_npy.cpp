#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "base/text.hpp"
#include "data/binary_view.hpp"
#include "data/length_readers.hpp"

namespace cpplan::data {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

struct NpyHeader {
  std::string type;  // "<i8"
  std::uint64_t count = 0;
};

tl::unexpected<Error> malformed_npy(const std::string& name, std::string_view why) {
  return failure(fmt::format(
      "cannot read {} ({}). save it with numpy.save of a one-dimensional array of integers", name,
      why));
}

/// What stands after 'key': in the header's Python literal.
std::optional<std::string_view> value_after(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return std::nullopt;
  return trimmed(header.substr(colon + 1));
}

std::optional<std::string> quoted_value(std::string_view header, std::string_view key) {
  const auto value = value_after(header, key);
  if (!value || !value->starts_with('\'')) return std::nullopt;
  const std::size_t end = value->find('\'', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(value->substr(1, end - 1));
}

/// N of "(N,)"; none for any other number of dimensions.
std::optional<std::uint64_t> only_dimension(std::string_view header) {
  auto shape = value_after(header, "shape");
  if (!shape || !shape->starts_with('(')) return std::nullopt;
  const std::size_t end = shape->find(')');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view inner = trimmed(shape->substr(1, end - 1));
  if (inner.ends_with(',')) inner = trimmed(inner.substr(0, inner.size() - 1));
  std::uint64_t count = 0;
  const auto [stop, error] = std::from_chars(inner.data(), inner.data() + inner.size(), count);
  if (error != std::errc() || stop != inner.data() + inner.size()) return std::nullopt;
  return count;
}

/// Version 1 has 16 bits for the length of its header, later ones 32.
std::optional<std::string_view> take_header(BinaryView& view, std::string_view content) {
  const auto major = view.take<std::uint8_t>();
  const auto minor = view.take<std::uint8_t>();
  if (!major || !minor || *major < 1 || *major > 3) return std::nullopt;
  std::optional<std::uint32_t> size;
  if (*major == 1)
    size = view.take<std::uint16_t>();
  else
    size = view.take<std::uint32_t>();
  const Index from = view.offset();
  if (!size || !view.take_array<char>(*size)) return std::nullopt;
  return content.substr(static_cast<std::size_t>(from), *size);
}

template <class Number>
Result<Lengths> converted(const std::string& name, BinaryView& view, std::uint64_t count) {
  const auto numbers = view.take_array<Number>(count);
  if (!numbers) return malformed_npy(name, fmt::format("it ends before its {} numbers do", count));
  Lengths lengths;
  lengths.reserve(static_cast<std::size_t>(count));
  for (Index i = 0; i < numbers->count(); ++i) {
    const Number number = (*numbers)[i];
    if (!std::in_range<Length>(number) || std::cmp_less(number, 0))
      return malformed_npy(name, fmt::format("number {} is {}, and a length is from 0 to {}", i,
                                             number, std::numeric_limits<Length>::max()));
    lengths.push_back(static_cast<Length>(number));
  }
  return lengths;
}

Result<Lengths> take_numbers(const std::string& name, BinaryView& view, const NpyHeader& header) {
  const std::string& type = header.type;
  if (type == "<i8") return converted<std::int64_t>(name, view, header.count);
  if (type == "<i4") return converted<std::int32_t>(name, view, header.count);
  if (type == "<u8") return converted<std::uint64_t>(name, view, header.count);
  if (type == "<u4") return converted<std::uint32_t>(name, view, header.count);
  if (type == "<i2") return converted<std::int16_t>(name, view, header.count);
  if (type == "<u2") return converted<std::uint16_t>(name, view, header.count);
  if (type == "|u1") return converted<std::uint8_t>(name, view, header.count);
  return malformed_npy(name,
                       fmt::format("its type \"{}\" is not one of little-endian integers", type));
}

}  // namespace

bool is_npy(std::string_view content) {
  return content.starts_with(npy_magic);
}

Result<Lengths> lengths_of_npy(const std::string& name, std::string_view content) {
  BinaryView view(content);
  if (!is_npy(content) || !view.take_array<char>(npy_magic.size()))
    return malformed_npy(name, "it does not begin with \\x93NUMPY");
  const auto header = take_header(view, content);
  if (!header) return malformed_npy(name, "its header is cut off or of an unknown version");
  const auto type = quoted_value(*header, "descr");
  const auto count = only_dimension(*header);
  if (!type) return malformed_npy(name, "its header names no single type");
  if (!count) return malformed_npy(name, "it has more or fewer than one dimension");
  return take_numbers(name, view, {*type, *count});
}

}  // namespace cpplan::data
