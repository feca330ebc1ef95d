#include "kernels/cuda/attention_blocks.hpp"

#include <algorithm>

namespace cpplan::kernels::cuda {
namespace {

/// Positions and rows so small that sums and differences of some fit 32 bits.
constexpr Index greatest = Index{1} << 28;

int narrow(Index n) {
  expect(n >= -greatest && n <= greatest, "rows and positions of attention are below 2^28");
  return static_cast<int>(n);
}

const Run& owned(const Block& block, Owner owner) {
  return owner == Owner::queries ? block.q : block.k;
}

/// The blocks that hold pairs, those with the same owned rows together, in the order of rows.
std::vector<Block> ordered(std::span<const Block> blocks, Owner owner) {
  std::vector<Block> some;
  for (const Block& block : blocks)
    if (block.coverage != Coverage::none && block.q.count > 0 && block.k.count > 0)
      some.push_back(block);
  std::stable_sort(some.begin(), some.end(), [&](const Block& a, const Block& b) {
    const Run &x = owned(a, owner), &y = owned(b, owner);
    return x.row != y.row ? x.row < y.row : x.count < y.count;
  });
  return some;
}

WorkBlock work_block(const Block& b) {
  narrow(b.q.last()), narrow(b.k.last());
  return {narrow(b.q.row),
          narrow(b.q.count),
          narrow(b.q.first),
          narrow(b.q.stride),
          narrow(b.k.row),
          narrow(b.k.count),
          narrow(b.k.first),
          narrow(b.k.stride),
          narrow(b.sample),
          b.coverage == Coverage::all,
          0};
}

class ListBuilder {
 public:
  ListBuilder(Owner owner, Index tile) : owner_(owner), tile_(tile) {}

  void add(const Block& block) {
    const Run& run = owned(block, owner_);
    const bool same = !lists_.empty() && run == last_, apart = run.row >= end_row_;
    if (lists_.empty() || lists_.back().count == WorkList::capacity || (!same && !apart))
      start_list();
    WorkList& list = lists_.back();
    if (list.count == 0 || !same) list.tiles += narrow(ceil_div(run.count, tile_));
    WorkBlock& added = list.blocks[list.count++];
    added = work_block(block);
    added.end_tile = list.tiles;
    last_ = run;
    end_row_ = run.row + run.count;
  }
  std::vector<WorkList> take() { return std::move(lists_); }

 private:
  void start_list() {
    lists_.emplace_back();
    end_row_ = 0;
  }

  Owner owner_;
  Index tile_, end_row_ = 0;
  Run last_{};
  std::vector<WorkList> lists_;
};

}  // namespace

std::vector<WorkList> work_lists(std::span<const Block> blocks, Owner owner, Index tile) {
  ListBuilder builder(owner, tile);
  for (const Block& block : ordered(blocks, owner)) builder.add(block);
  return builder.take();
}

}  // namespace cpplan::kernels::cuda
