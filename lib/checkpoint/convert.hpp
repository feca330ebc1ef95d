#pragma once
// A checkpoint or a model into a plain model folder, as Hugging Face's library saves one.
#include <filesystem>
#include <optional>

#include "base/result.hpp"
#include "checkpoint/element_type.hpp"

namespace cpplan::checkpoint {

/// Writes weights, index and config.json of `source` into the new folder `target`, in the number
/// format `type` (as they are, where there is none), read from the most exact copy that the source
/// has. Error: the source has no weights, or the target is there already.
Result<void> convert_model(const std::filesystem::path& source, const std::filesystem::path& target,
                           std::optional<ElementType> type);

}  // namespace cpplan::checkpoint
