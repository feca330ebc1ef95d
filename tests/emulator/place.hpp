#pragma once
// Where a thread of a kernel is: every primitive knows the line that called it, for reports.
#include <string>
#include <string_view>

#include "base/failure.hpp"

namespace cpplan::emulator {

/// What a kernel does wrong, found while it ran: a test fails with the words, a rank as it would by
/// an illegal access on a device.
struct Defect : Failure {
  using Failure::Failure;
};

struct Place {
  const char* file = "";
  int line = 0;

  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// A collective operation at a place: where a thread waits for others.
struct Meeting {
  const char* operation = "";
  Place place{};

  bool operator==(const Meeting& other) const {
    return place.line == other.place.line && same(operation, other.operation) &&
           same(place.file, other.place.file);
  }
  std::string text() const {
    return std::string(operation) + " at " + place.file + ":" + std::to_string(place.line);
  }

 private:
  /// Mostly one literal.
  static bool same(const char* a, const char* b) { return a == b || std::string_view(a) == b; }
};

}  // namespace cpplan::emulator
