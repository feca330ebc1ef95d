#include "layout/sequence_map.hpp"

#include <algorithm>
#include <numeric>

namespace cpplan::layout {
namespace {

/// Chunks of each document that a rank holds, one after another.
Index chunks_per_rank(Split split) {
  return split == Split::head_tail ? 2 : 1;
}

kernels::Run valid_run(const Segment& s, Index first_index, Index first_row) {
  return {first_row + s.row, s.valid, first_index + s.position, s.stride};
}

/// The tokens of a document as runs of one stride, which together hold each of them once.
std::vector<kernels::Run> key_runs(Index tokens, Index first_index, Index stride) {
  std::vector<kernels::Run> runs;
  for (Index i = 0; i < std::min(stride, tokens); ++i)
    runs.push_back({0, ceil_div(tokens - i, stride), first_index + i, stride});
  return runs;
}

}  // namespace

SequenceMap::SequenceMap(Split split, int ranks, std::vector<Document> documents)
    : split_(split), ranks_(ranks), documents_(std::move(documents)), start_{0} {
  Index index = 0, sample = 0;
  for (const Document& d : documents_) {
    expect(d.padded % multiple(split, ranks) == 0, "documents are padded to the split's multiple");
    expect(d.valid >= 0 && d.valid <= d.padded, "a document's tokens fit its rows");
    expect(d.sample >= sample, "samples count up");
    if (d.sample != sample) index = 0;
    sample = d.sample;
    index_.push_back(index);
    index += d.valid;
    tokens_ += d.valid;
    start_.push_back(start_.back() + d.padded);
  }
}

SequenceMap SequenceMap::padded(Split split, int ranks, std::span<const DocumentLength> documents,
                                Index rows_multiple, Index capacity) {
  std::vector<Document> laid_out;
  Index rows = 0;
  for (const DocumentLength& d : documents) {
    laid_out.push_back({d.tokens, round_up(d.tokens, multiple(split, ranks)), d.sample});
    rows += laid_out.back().padded / ranks;
  }
  const Index unit = std::lcm(rows_multiple, multiple(split, ranks) / ranks);
  const Index wanted = round_up(std::max(rows, capacity), unit);
  expect(capacity == 0 || wanted == capacity, "the capacity holds the padded documents");
  if (wanted > rows) {
    const Index last_sample = laid_out.empty() ? 0 : laid_out.back().sample;
    laid_out.push_back({0, (wanted - rows) * ranks, last_sample});
  }
  return {split, ranks, std::move(laid_out)};
}

SequenceMap::Chunk SequenceMap::chunk(Index document, int rank, Index number) const {
  const Index rows = documents_[document].padded / ranks_ / chunks_per_rank(split_);
  const Index row = start_[document] / ranks_ + number * rows;
  if (split_ == Split::striped) return {row, rows, rank, ranks_};
  const Index place = number == 0 ? rank : 2 * ranks_ - 1 - rank;
  return {row, rows, place * rows, 1};
}

std::vector<Segment> SequenceMap::segments(int rank) const {
  std::vector<Segment> segments;
  for (Index d = 0; d < std::ssize(documents_); ++d)
    for (Index number = 0; number < chunks_per_rank(split_); ++number) {
      const auto [row, rows, position, stride] = chunk(d, rank, number);
      const Index left = documents_[d].valid - position;
      const Index valid = left <= 0 ? 0 : std::min(ceil_div(left, stride), rows);
      segments.push_back({d, row, rows, position, stride, valid});
    }
  return segments;
}

Token SequenceMap::at(int rank, Index row) const {
  expect(rank >= 0 && rank < ranks_ && row >= 0 && row < rows(), "the row is one of the rank's");
  const auto next = std::upper_bound(start_.begin(), start_.end(), row * ranks_);
  const Index d = next - start_.begin() - 1;
  const Chunk first = chunk(d, rank, 0);
  const Chunk holder = row < first.row + first.rows ? first : chunk(d, rank, 1);
  const Index position = holder.position + (row - holder.row) * holder.stride;
  const Document& document = documents_[d];
  const Index index = position < document.valid ? index_[d] + position : -1;
  return {d, position, index, document.sample};
}

Place SequenceMap::find(Index document, Index position) const {
  expect(position >= 0 && position < documents_[document].padded,
         "the position is one of the document's");
  if (split_ == Split::striped)
    return {static_cast<int>(position % ranks_), start_[document] / ranks_ + position / ranks_};
  const Index rows = chunk(document, 0, 0).rows;
  const Index place = position / rows;
  const bool tail = place >= ranks_;
  const int rank = static_cast<int>(tail ? 2 * ranks_ - 1 - place : place);
  return {rank, chunk(document, rank, tail ? 1 : 0).row + position % rows};
}

std::vector<Block> SequenceMap::blocks(int q_rank, int k_rank, Band band, Index k_row) const {
  const auto queries = segments(q_rank), keys = segments(k_rank);
  const auto per_document = static_cast<std::size_t>(chunks_per_rank(split_));
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const std::size_t document = i / per_document;
    const kernels::Run q = valid_run(queries[i], index_[document], 0);
    for (std::size_t j = document * per_document; j < (document + 1) * per_document; ++j) {
      const kernels::Run k = valid_run(keys[j], index_[document], k_row);
      if (q.count == 0 || k.count == 0) continue;
      const kernels::Coverage coverage = kernels::coverage(q, k, band);
      if (coverage != kernels::Coverage::none)
        blocks.push_back({q, k, coverage, documents_[document].sample});
    }
  }
  return blocks;
}

Index SequenceMap::work(int rank, Band band) const {
  Index pairs = 0;
  for (const Segment& s : segments(rank)) {
    const Index tokens = documents_[s.document].valid;
    const Index first = index_[s.document];
    for (const kernels::Run& keys : key_runs(tokens, first, s.stride))
      pairs += kernels::pairs(valid_run(s, first, 0), keys, band);
  }
  return pairs;
}

SequenceMap SequenceMap::merged(int size) const {
  expect(size >= 1 && ranks_ % size == 0, "groups of one size fill the ranks");
  expect(split_ != Split::striped || size == 1 || size == ranks_,
         "stripes merge over all ranks only");
  return {split_, ranks_ / size, documents_};
}

std::vector<Move> SequenceMap::moves(int size, int group, int member) const {
  const SequenceMap whole = merged(size);
  std::vector<Move> moves;
  for (const Segment& s : segments(group * size + member)) {
    const Index together = size > 1 && s.stride > 1 ? 1 : s.count;  // stripes spread, chunks do not
    for (Index i = 0; i < s.count; i += together)
      moves.push_back({s.row + i, whole.find(s.document, s.position + i * s.stride).row, together});
  }
  return moves;
}

}  // namespace cpplan::layout
