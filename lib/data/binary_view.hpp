#pragma once
// Little-endian numbers out of bytes that a file gave, never beyond their end.
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/units.hpp"

namespace cpplan::data {

/// An array of numbers at any alignment. Contract: i is within it.
template <class Number>
class NumberArray {
 public:
  NumberArray() = default;
  explicit NumberArray(std::string_view bytes) : bytes_(bytes) {}

  Index count() const { return std::ssize(bytes_) / Index{sizeof(Number)}; }
  Number operator[](Index i) const {
    Number number;
    std::memcpy(&number, bytes_.data() + i * Index{sizeof(Number)}, sizeof(Number));
    return number;
  }

 private:
  std::string_view bytes_;
};

/// Takes numbers from the front of the bytes; nothing where fewer are left.
class BinaryView {
 public:
  explicit BinaryView(std::string_view bytes) : bytes_(bytes), size_(bytes.size()) {}

  Index offset() const { return static_cast<Index>(size_ - bytes_.size()); }

  template <class Number>
  std::optional<Number> take() {
    const auto one = take_array<Number>(1);
    return one ? std::optional((*one)[0]) : std::nullopt;
  }

  template <class Number>
  std::optional<NumberArray<Number>> take_array(std::uint64_t count) {
    if (count > bytes_.size() / sizeof(Number)) return std::nullopt;
    const NumberArray<Number> array(bytes_.substr(0, count * sizeof(Number)));
    bytes_.remove_prefix(count * sizeof(Number));
    return array;
  }

 private:
  std::string_view bytes_;
  std::size_t size_;
};

}  // namespace cpplan::data
