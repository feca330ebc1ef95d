#pragma once
// The documents of one packed sequence over the context-parallel ranks: what is padded to what, who
// holds which tokens, and how the causal work spreads.
#include <span>

#include "layout/sequence_map.hpp"
#include "plan/plan.hpp"

namespace cpplan::plan {

/// What each document is padded to a multiple of: 2 * CP, so that each rank holds two chunks of it;
/// with sequence parallelism CP * lcm(2, TP), so that a rank's rows of each document divide over TP
/// (lcm(2 * CP, TP) is not enough: NeMo-RL #3563). Without CP there are no chunks.
Index document_multiple(const layout::ParallelDims&);

/// None without documents, and where their tokens do not fit 32 bits.
std::optional<DocumentLayout> lay_out_documents(std::span<const Index> documents,
                                                const layout::ParallelDims&);

/// Documents of one layout as layout::SequenceMap takes them.
layout::SequenceMap map_of(const DocumentLayout&, layout::Split, int ranks);

}  // namespace cpplan::plan
