#pragma once
// One training sample: what a sequence holds before any layout.
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace cpplan::data {

/// Documents stand one after another; their lengths add up to tokens.size(). labels[i] is the token
/// that follows tokens[i] in its document, -1 at the end of one: shifted here, before any split.
struct Sample {
  std::vector<Index> documents;
  std::vector<std::int32_t> tokens, labels;
};

}  // namespace cpplan::data
