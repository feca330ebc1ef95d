#pragma once
// Heads for tokens and back (Ulysses, arXiv 2309.14509): `size` neighbours, each with all heads of
// its rows, become `size` ranks with all rows of its heads. Rows come out in the order of the map
// of fewer ranks, so that what follows is attention over that map.
#include <span>

#include "engine/layer.hpp"

namespace cpplan::engine {

class HeadExchange {
 public:
  /// The same heads in two layouts: [rows, heads * head_dim] of this rank's rows, and [size * rows,
  /// heads of this rank * head_dim]. With fewer heads than ranks, ranks share one.
  struct Pair {
    Tensor tokens, heads;
  };

  /// Contract: this rank is one of `size` neighbours of `group`, which is a part of the map's
  /// ranks.
  HeadExchange(comm::Communicator& group, const layout::SequenceMap& map, int map_rank);

  void to_heads(Step&, std::span<const Pair>) const;
  /// Sums what ranks that share a head send back.
  void to_tokens(Step&, std::span<const Pair>) const;

 private:
  int size() const { return group_.size(); }
  /// The columns of `pair.tokens` that belong to `member`.
  Tensor slice(const Pair& pair, int member) const;
  std::vector<layout::Move> moves_of(int member) const;

  comm::Communicator& group_;
  const layout::SequenceMap& map_;
  int neighbourhood_;  // which group of `size` neighbours this is
};

}  // namespace cpplan::engine
