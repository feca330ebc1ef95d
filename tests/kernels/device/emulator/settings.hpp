#pragma once
// In place of the emulator's, for tests that run on hardware: it chooses its own order, and counts
// nothing.
#include "base/units.hpp"

namespace cpplan::emulator {

inline constexpr bool counting = false;

enum class ThreadOrder { ascending, descending };
enum class CopyTime { at_the_wait, at_once };

struct Settings {
  ThreadOrder threads = ThreadOrder::ascending;
  CopyTime copies = CopyTime::at_the_wait;
};
inline Settings& settings() {
  static Settings none;
  return none;
}

struct Statistics {
  Index multiply_adds = 0, bank_conflicts = 0, allocations = 0;
};
inline Statistics& statistics() {
  static Statistics none;
  return none;
}

}  // namespace cpplan::emulator
