// The twin of arrow_lengths.cpp for a build without Arrow: CMake takes one of the two.
#include <fmt/format.h>

#include "data/length_readers.hpp"

namespace cpplan::data {

Result<Lengths> lengths_of_arrow(const std::filesystem::path& folder) {
  return failure(fmt::format(
      "cannot read the dataset {} (this build has no Arrow library). give its row lengths with "
      "--lengths FILE, one integer a line or .npy, or its size with --rows and --total-tokens",
      folder.string()));
}

}  // namespace cpplan::data
