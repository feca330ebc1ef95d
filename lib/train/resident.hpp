#pragma once
// The memory of this process as the system sees it, whatever asked for it.
#include <optional>

#include "base/units.hpp"

namespace cpplan::train {

/// How much more memory this process comes to hold than when the object was made.
class ResidentGrowth {
 public:
  /// Sets the system's high-water mark back to what is resident now.
  ResidentGrowth();
  /// The most that was resident since, over what was then. None where the system does not say.
  std::optional<Bytes> peak() const;

 private:
  std::optional<Bytes> before_;
};

}  // namespace cpplan::train
