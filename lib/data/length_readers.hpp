#pragma once
// One reader a format behind read_lengths(). `name` is what messages call the file.
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/lengths.hpp"

namespace cpplan::data {

using Lengths = std::vector<Length>;

/// One integer a line; blank lines are passed over.
Result<Lengths> lengths_of_text(const std::string& name, std::string_view content);

bool is_npy(std::string_view content);

/// A one-dimensional array of integers; header of version 1, 2 or 3 (numpy/lib/format.py).
Result<Lengths> lengths_of_npy(const std::string& name, std::string_view content);

/// Bytes of the text of each line.
Result<Lengths> lengths_of_jsonl(const std::filesystem::path& file);

/// Tokens of each document; "MMIDIDX" as Megatron Core writes it, "TNTIDX" as it wrote before.
Result<Lengths> lengths_of_idx(const std::string& name, std::string_view content);

/// Rows of all .arrow streams of the folder in their order: the column length, else the sizes of
/// input_ids. Error where this build has no Arrow.
Result<Lengths> lengths_of_arrow(const std::filesystem::path& folder);

}  // namespace cpplan::data
