#pragma once
// Expected failures (a file, a process, a device) as values.
#include <string>
#include <tl/expected.hpp>

namespace cpplan {

/// Why something outside of us did not work. `message` follows "problem (why). suggestion".
struct Error {
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// return failure("cannot read x (permission denied)");
inline tl::unexpected<Error> failure(std::string message) {
  return tl::unexpected<Error>(Error{std::move(message)});
}

}  // namespace cpplan
