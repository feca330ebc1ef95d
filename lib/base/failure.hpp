#pragma once
// The one exception of the project.
#include <stdexcept>
#include <string>

namespace cpplan {

/// A peer is gone, a deadline has passed or a device failed, in the middle of a step. Thrown by
/// comm, kernels and device alone, caught by the worker and the in-process rank runner alone: no
/// layer of the model mentions it.
struct Failure : std::runtime_error {
  /// witness: all ranks find the same at the same moment, and it is another one's doing, which has
  /// the word.
  enum class Role : unsigned char { cause, witness };

  explicit Failure(const std::string& what, Role role_of_rank = Role::cause)
      : std::runtime_error(what), role(role_of_rank) {}

  Role role;
};

}  // namespace cpplan
