#pragma once
// How long the rows of a dataset are, from whatever file says so.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cpplan::data {

/// Tokens of one row. 32 bits: ten million rows are held beside an order of them in 80 MB, and the
/// framework's sampler holds them so too.
using Length = std::int32_t;

enum class LengthUnit { tokens, bytes };

struct RowLengths {
  std::vector<Length> rows;  // in loaded order, before any filter
  LengthUnit unit = LengthUnit::tokens;
  std::string source;  // "lengths.npy", "standard input"
};

/// Reads, by what it is: text with one integer a line or .npy (also from standard input, "-"),
/// .jsonl (a row a line, its text in bytes), Megatron's .idx (a row a document), a folder that
/// datasets' save_to_disk wrote. Errors: not readable, malformed (with the line or the offset), no
/// row in it, a length below 0 or of 2^31 and more.
Result<RowLengths> read_lengths(const std::string& path);

}  // namespace cpplan::data
