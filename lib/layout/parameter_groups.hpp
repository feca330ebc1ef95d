#pragma once
// The ranks that keep parts or copies of the same parameters. Sharded state lies over CP and the
// inner part of DP, and has `replicate` copies over its outer part (hybrid sharding): DP rank =
// copy * (DP / replicate) + place.
#include "layout/ranks.hpp"

namespace cpplan::layout {

/// The ranks that hold one copy of the state together, that of less stride fastest. Contract:
/// `replicate` divides DP.
Group shard_group(const Ranks&, int rank, int replicate);
/// The ranks that hold the same part of each copy.
Group replicate_group(const Ranks&, int rank, int replicate);
/// The first and the last pipeline stage, where both hold the embedding; a stage between is alone.
Group embedding_group(const Ranks&, int rank);
/// `copies` neighbours in TP, which hold the same KV heads. Contract: `copies` divides TP.
Group kv_group(const Ranks&, int rank, int copies);

}  // namespace cpplan::layout
