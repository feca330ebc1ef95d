#pragma once
// XXH64 (Yann Collet, https://xxhash.com): finds damage, not intent. checksum.cpp is the only file
// that knows the library.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cpplan::checkpoint {

/// Of bytes that come in pieces, with seed 0.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::uint64_t checksum_of(std::string_view text);

/// Sixteen hexadecimal digits, since JSON's numbers end at 2^53.
std::string to_hex(std::uint64_t);
Result<std::uint64_t> from_hex(std::string_view);

}  // namespace cpplan::checkpoint
