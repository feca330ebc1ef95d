#pragma once
// The one exception of the project.
#include <stdexcept>

namespace cpplan {

/// A peer is gone, a deadline has passed or a device failed, in the middle of a step. Thrown by
/// comm and kernels alone, caught by the worker and the in-process rank runner alone: no layer of
/// the model mentions it.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace cpplan
