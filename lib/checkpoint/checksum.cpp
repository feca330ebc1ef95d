#include "checkpoint/checksum.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>

#include "base/contract.hpp"

namespace cpplan::checkpoint {

struct Checksum::State {
  XXH64_state_t* xxh = XXH64_createState();
  ~State() { XXH64_freeState(xxh); }
};

Checksum::Checksum() : state_(std::make_unique<State>()) {
  expect(state_->xxh != nullptr && XXH64_reset(state_->xxh, 0) == XXH_OK, "a checksum begins");
}
Checksum::~Checksum() = default;

void Checksum::add(std::span<const std::byte> bytes) {
  expect(XXH64_update(state_->xxh, bytes.data(), bytes.size()) == XXH_OK, "a checksum goes on");
}

std::uint64_t Checksum::value() const {
  return XXH64_digest(state_->xxh);
}

std::uint64_t checksum_of(std::string_view text) {
  return XXH64(text.data(), text.size(), 0);
}

std::string to_hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

Result<std::uint64_t> from_hex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() != 16)
    return failure(fmt::format("\"{}\" is no checksum (it has sixteen hexadecimal digits)", text));
  return value;
}

}  // namespace cpplan::checkpoint
