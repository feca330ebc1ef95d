#pragma once
// Counter-based random numbers: a value is a function of a key and a place, so that every layout
// draws the same ones. Philox4x32-10 of Salmon et al., SC'11 ("Parallel random numbers: as easy as
// 1, 2, 3"). Device code includes this.
#include <array>
#include <cstdint>
#include <string_view>

namespace cpplan {

using PhiloxCounter = std::array<std::uint32_t, 4>;

constexpr PhiloxCounter philox(std::uint64_t key, PhiloxCounter c) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

/// FNV-1a, 64 bits.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

/// Key of everything random: "init/" + parameter, "dropout/hidden", "dropout/attention", "order".
constexpr std::uint64_t random_key(std::uint64_t seed, std::string_view purpose) {
  return seed ^ fnv1a(purpose);
}

}  // namespace cpplan
