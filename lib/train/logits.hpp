#pragma once
// What a model folder says of a text, for those who compare it with another program's: one rank on
// the host's kernels in fp32.
#include <filesystem>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "engine/evaluator.hpp"

namespace cpplan::train {

/// Numbers of tokens, separated by blanks, lines or commas. Error: there is something else, or
/// none.
Result<std::vector<std::int32_t>> read_token_ids(const std::filesystem::path&);

/// Of a folder that Hugging Face's library wrote, or of a checkpoint. Each token is the label of
/// the one before. Error: the engine cannot compute the model, its weights cannot be read, or a
/// token is not of its vocabulary.
Result<engine::Evaluation> evaluate_model(const std::filesystem::path& folder,
                                          std::span<const std::int32_t> tokens);

/// A new safetensors file with one tensor: logits, f32 [tokens, vocabulary]. Error: it is there
/// already, or cannot be written.
Result<void> write_logits(const std::filesystem::path&, const engine::Evaluation&, Index tokens);

}  // namespace cpplan::train
