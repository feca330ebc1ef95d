#include "plan/memory_optimizer.hpp"

#include <algorithm>

namespace cpplan::plan {
namespace {

struct Row {
  std::string_view name;
  Index states;     // of the parameter's own type
  Index bytes = 0;  // instead of those, where it has a type of its own
};

// transformers, training_args.py OptimizerNames, and axolotl's own. An 8-bit state has a byte a
// parameter and a scale a block of 256. Adafactor keeps a row and a column of a matrix: nothing
// here.
constexpr Row rows[] = {
    {"adamw_torch", 2},
    {"adamw_torch_fused", 2},
    {"adamw_hf", 2},
    {"adamw_apex_fused", 2},
    {"adamw_torch_xla", 2},
    {"adamw_torch_npu_fused", 2},
    {"adamw_anyprecision", 2},
    {"paged_adamw", 2},
    {"paged_adamw_32bit", 0, 8},
    {"adamw_8bit", 0, 2},
    {"adamw_bnb_8bit", 0, 2},
    {"paged_adamw_8bit", 0, 2},
    {"adamw_torch_8bit", 0, 2},
    {"ao_adamw_8bit", 0, 2},
    {"adamw_torch_4bit", 0, 1},
    {"ao_adamw_4bit", 0, 1},
    {"ao_adamw_fp8", 0, 2},
    {"adopt_adamw", 2},
    {"came_pytorch", 1},
    {"muon", 1},
    {"lion_pytorch", 1},
    {"lion_32bit", 0, 4},
    {"paged_lion_32bit", 0, 4},
    {"lion_8bit", 0, 1},
    {"paged_lion_8bit", 0, 1},
    {"ademamix", 3},
    {"ademamix_8bit", 0, 3},
    {"paged_ademamix_32bit", 0, 12},
    {"paged_ademamix_8bit", 0, 3},
    {"rmsprop", 1},
    {"adagrad", 1},
    {"sgd", 0},
    {"adafactor", 0},
    {"adam", 2},
};

}  // namespace

std::optional<Index> optimizer_state_bytes(std::string_view optimizer, Index weight_bytes) {
  const auto* found = std::ranges::find(rows, optimizer, &Row::name);
  if (found == std::end(rows)) return std::nullopt;
  return found->bytes > 0 ? found->bytes : found->states * weight_bytes;
}

}  // namespace cpplan::plan
