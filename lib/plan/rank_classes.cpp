#include "plan/rank_classes.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace cpplan::plan {
namespace {
using layout::Dim;

/// Positions of one dimension that do the same: the first of them, and how many.
struct Position {
  int first = 0;
  Index count = 1;
};

template <class Key>
std::vector<Position> positions(int size, const Key& key) {
  std::vector<Position> found;
  std::map<decltype(key(0)), std::size_t> seen;
  for (int i = 0; i < size; ++i) {
    const auto [at, fresh] = seen.try_emplace(key(i), found.size());
    if (fresh)
      found.push_back({i, 1});
    else
      ++found[at->second].count;
  }
  return found;
}

/// Of the padded vocabulary's columns on a TP rank, those that are not padding.
Index valid_columns(const engine::Job& job, int tp_rank) {
  const Index columns = ceil_div(job.model.vocab_size, job.dims.tp);
  return std::clamp<Index>(job.model.vocab_size - tp_rank * columns, 0, columns);
}

kernels::Band band_of(const engine::Job& job) {
  return job.attention_window > 0 ? kernels::sliding_window(job.attention_window) : kernels::causal;
}

layout::SequenceMap map_of(const engine::Job& job, const engine::Documents& documents) {
  const auto split = job.context_parallel.split;
  return layout::SequenceMap::padded(split, job.dims.cp, documents,
                                     engine::rows_multiple(job.dims, split), job.capacity);
}

Index pairs_of(const std::vector<kernels::Block>& blocks, kernels::Band band) {
  Index sum = 0;
  for (const auto& block : blocks) sum += kernels::pairs(block.q, block.k, band);
  return sum;
}

}  // namespace

std::vector<std::vector<Index>> ring_work(const engine::Job& job,
                                          const engine::Documents& documents) {
  const auto map = map_of(job, documents);
  const auto band = band_of(job);
  const int cp = job.dims.cp;
  std::vector<std::vector<Index>> work(static_cast<std::size_t>(cp));
  for (int rank = 0; rank < cp; ++rank)
    for (int hop = 0; hop < cp; ++hop)
      work[static_cast<std::size_t>(rank)].push_back(
          pairs_of(map.blocks(rank, layout::owner_at(rank, hop, cp), band), band));
  return work;
}

bool cp_ranks_work_alike(const engine::Job& job, const engine::Documents& documents) {
  const auto work = ring_work(job, documents);
  return std::ranges::all_of(work, [&](const auto& of_rank) { return of_rank == work.front(); });
}

double work_imbalance(const engine::Job& job, const engine::Documents& documents) {
  Index greatest = 0, sum = 0;
  for (const auto& hops : ring_work(job, documents)) {
    const Index pairs = std::accumulate(hops.begin(), hops.end(), Index{0});
    greatest = std::max(greatest, pairs);
    sum += pairs;
  }
  return sum > 0 ? static_cast<double>(greatest) * job.dims.cp / static_cast<double>(sum) : 1;
}

std::vector<RankClass> rank_classes(const engine::Job& job, const engine::Documents& documents) {
  const auto work = ring_work(job, documents);
  const auto& dims = job.dims;
  const auto tp =
      positions(dims.tp, [&](int i) { return std::pair(i == 0, valid_columns(job, i)); });
  const auto cp = positions(
      dims.cp, [&](int i) { return std::pair(i == 0, work[static_cast<std::size_t>(i)]); });
  const auto dp = positions(dims.dp, [](int i) { return i == 0; });
  std::vector<RankClass> classes;
  for (int stage = 0; stage < dims.pp; ++stage)
    for (const Position& d : dp)
      for (const Position& c : cp)
        for (const Position& t : tp) {
          layout::Coordinates at;
          at[Dim::pp] = stage, at[Dim::dp] = d.first, at[Dim::cp] = c.first, at[Dim::tp] = t.first;
          classes.push_back({at, d.count * c.count * t.count});
        }
  return classes;
}

}  // namespace cpplan::plan
