#include "plan/documents.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"

namespace cpplan::plan {
namespace {
using layout::Split;

constexpr Index most_tokens = Index{1} << 31;

std::vector<Index> cumulative(const std::vector<Index>& lengths) {
  std::vector<Index> sums = {0};
  for (const Index n : lengths) sums.push_back(sums.back() + n);
  return sums;
}

DocumentWork work_of(const DocumentLayout& documents, Split split, int ranks) {
  const auto map = map_of(documents, ranks == 1 ? Split::contiguous : split, ranks);
  DocumentWork work;
  double sum = 0;
  Index greatest = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    work.pairs.push_back(map.work(rank, kernels::causal));
    greatest = std::max(greatest, work.pairs.back());
    sum += static_cast<double>(work.pairs.back());
  }
  work.imbalance = sum > 0 ? static_cast<double>(greatest) * ranks / sum : 1;
  return work;
}

}  // namespace

Index document_multiple(const layout::ParallelDims& dims) {
  const Index sp = dims.sequence_parallel ? dims.tp : 1;
  return dims.cp == 1 ? sp : dims.cp * std::lcm(Index{2}, sp);
}

std::optional<DocumentLayout> lay_out_documents(std::span<const Index> documents,
                                                const layout::ParallelDims& dims) {
  if (documents.empty()) return std::nullopt;
  DocumentLayout layout;
  layout.multiple = document_multiple(dims);
  for (const Index tokens : documents) {
    if (tokens < 0 || tokens > most_tokens) return std::nullopt;
    layout.lengths.push_back(tokens);
    layout.padded_lengths.push_back(round_up(tokens, layout.multiple));
  }
  layout.cu_seqlens = cumulative(layout.lengths);
  layout.cu_seqlens_padded = cumulative(layout.padded_lengths);
  if (layout.cu_seqlens_padded.back() > most_tokens) return std::nullopt;
  layout.tokens_per_rank = layout.cu_seqlens_padded.back() / dims.cp;
  if (dims.cp > most_listed_cp_ranks) return layout;
  layout.head_tail = work_of(layout, Split::head_tail, dims.cp);
  layout.contiguous = work_of(layout, Split::contiguous, dims.cp);
  layout.striped = work_of(layout, Split::striped, dims.cp);
  return layout;
}

layout::SequenceMap map_of(const DocumentLayout& documents, Split split, int ranks) {
  std::vector<layout::Document> laid_out;
  for (std::size_t d = 0; d < documents.lengths.size(); ++d)
    laid_out.push_back({documents.lengths[d], documents.padded_lengths[d],
                        static_cast<Index>(d)});  // a sample each: none sees another
  return {split, ranks, std::move(laid_out)};
}

}  // namespace cpplan::plan
