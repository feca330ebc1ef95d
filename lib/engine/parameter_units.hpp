#pragma once
// Which tensors of a rank are gathered and reduced together, and which units take turns in one
// buffer where whole ones are not kept.
#include <vector>

#include "engine/job.hpp"
#include "engine/model_tensors.hpp"

namespace cpplan::engine {

/// Units of a lane are never needed at the same time: a layer is gathered while the one before it
/// computes, embedding and output are the two ends of the model.
enum class Lane : std::uint8_t { vocabulary, even_layer, odd_layer, final_norm };
inline constexpr std::size_t lane_count = 4;

struct UnitSpec {
  std::vector<TensorSpec> tensors;
  Lane lane = Lane::vocabulary;
};

/// Of pipeline stage `stage`, in the order of its virtual stages and of their layers.
std::vector<UnitSpec> units_of(const Job& job, int stage);

}  // namespace cpplan::engine
