#pragma once
// The single owner of "which token is row i of context-parallel rank r": a sequence is a row of
// documents, every document is cut over the ranks by one rule. A dense batch is a batch of equal
// documents, the tail of a buffer is a document with no valid token, an all-to-all leads to the map
// of fewer ranks. Everything that has a sequence axis asks here.
#include <span>
#include <vector>

#include "kernels/mask.hpp"

namespace cpplan::layout {
using kernels::Band;
using kernels::Block;

enum class Split { head_tail, contiguous, striped };

/// Tokens, and rows of memory over all ranks. `sample`: which sample of the micro-batch.
struct Document {
  Index valid = 0, padded = 0, sample = 0;
  friend bool operator==(const Document&, const Document&) = default;
};

/// What is to be laid out: a document's tokens and its sample; samples count up from 0.
struct DocumentLength {
  Index tokens = 0, sample = 0;
};

/// Consecutive local rows of one document: row, row + 1, ... hold positions position,
/// position + stride, ... of it. The first `valid` of the `count` rows hold tokens.
struct Segment {
  Index document, row, count, position, stride, valid;
  friend bool operator==(const Segment&, const Segment&) = default;
};

struct Token {
  Index document;
  Index position;  // in the document, running on through its padding: RoPE's argument
  Index index;     // in its sample before padding, so the same in every layout; -1 for padding
  Index sample;    // of the micro-batch
};

struct Place {
  int rank;
  Index row;
};

/// Rows from .. from + count go to `to` ...
struct Move {
  Index from, to, count;
};

class SequenceMap {
 public:
  /// Contract: each document's padded length is a multiple of multiple(split, ranks).
  SequenceMap(Split split, int ranks, std::vector<Document> documents);

  /// Pads documents to multiple(split, ranks), then adds a tail so that the rows of a rank divide
  /// by `rows_multiple` and reach `capacity` rows (0: as few as will do). Contract: they fit.
  static SequenceMap padded(Split split, int ranks, std::span<const DocumentLength> documents,
                            Index rows_multiple = 1, Index capacity = 0);
  static Index multiple(Split split, int ranks) {
    return split == Split::head_tail ? 2 * ranks : ranks;
  }

  int ranks() const { return ranks_; }
  Split split() const { return split_; }
  Index rows() const { return start_.back() / ranks_; }  // of each rank, padding included
  Index tokens() const { return tokens_; }               // of all ranks, valid ones
  const std::vector<Document>& documents() const { return documents_; }

  std::vector<Segment> segments(int rank) const;
  Token at(int rank, Index row) const;
  Place find(Index document, Index position) const;

  /// What rows of `q_rank` compute against the rows of `k_rank`, which lie from `k_row` on: a ring
  /// step is one call, an all-gather one call for each owner with k_row = owner * rows(). Empty
  /// blocks are left out; equal q stand together. Positions are indices in the sample.
  std::vector<Block> blocks(int q_rank, int k_rank, Band band, Index k_row = 0) const;
  /// Allowed pairs of the rank's queries with all keys.
  Index work(int rank, Band band) const;

  /// After an all-to-all over groups of `size` neighbouring ranks the group holds the rows of one
  /// rank of this map.
  SequenceMap merged(int size) const;
  /// Where the rows of member `member` of such a group go in the merged order.
  std::vector<Move> moves(int size, int group, int member) const;

 private:
  /// Rows row .. row + rows of a rank hold position, position + stride, ... of the document.
  struct Chunk {
    Index row, rows, position, stride;
  };
  Chunk chunk(Index document, int rank, Index number) const;

  Split split_;
  int ranks_;
  std::vector<Document> documents_;
  std::vector<Index> start_;  // cu_seqlens_padded, over all ranks
  std::vector<Index> index_;  // of each document's first token in its sample
  Index tokens_ = 0;
};

/// Who owns the keys that rank r holds at a step of the ring (keys move to the next rank).
constexpr int owner_at(int rank, int step, int ranks) {
  return (rank - step + ranks) % ranks;
}

}  // namespace cpplan::layout
