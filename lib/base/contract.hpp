#pragma once
// Contracts: what only our own bug can break. Never for user input, never for a peer that is gone.
#include <source_location>
#include <string_view>

namespace cpplan {

/// Prints what was broken, where, and that it is our bug; then exits with 70.
[[noreturn]] void contract_broken(std::string_view what, std::source_location at);

/// States what must hold here. Checked in every build: a wrong layout trains on wrong numbers.
constexpr void expect(bool holds, std::string_view what,
                      std::source_location at = std::source_location::current()) {
  if (!holds) [[unlikely]]
    contract_broken(what, at);
}

}  // namespace cpplan
