#include "engine/head_exchange.hpp"

#include <vector>

namespace cpplan::engine {
namespace {

/// Rows of member m from m * rows on; made in scratch.
Tensor staging(Step& step, const HeadExchange::Pair& pair) {
  return step.scratch.make_remote(pair.heads.dtype, pair.heads.rows, pair.heads.cols);
}

Tensor rows_of(Tensor staged, const HeadExchange::Pair& pair, int member) {
  return staged.row_range(member * pair.tokens.rows, pair.tokens.rows);
}

}  // namespace

HeadExchange::HeadExchange(comm::Communicator& group, const layout::SequenceMap& map, int map_rank)
    : group_(group), map_(map), neighbourhood_(map_rank / group.size()) {}

Tensor HeadExchange::slice(const Pair& pair, int member) const {
  const Index width = pair.heads.cols, whole = pair.tokens.cols;
  // Fewer heads than ranks: neighbours share one, and `width` is a head.
  const Index first = member * whole / size() / width * width;
  return pair.tokens.col_range(first, width);
}

std::vector<layout::Move> HeadExchange::moves_of(int member) const {
  return map_.moves(size(), neighbourhood_, member);
}

void HeadExchange::to_heads(Step& step, std::span<const Pair> pairs) const {
  kernels::Arena::Scope scope(step.scratch);
  std::vector<Tensor> staged;
  std::vector<comm::Message> messages;
  for (const Pair& pair : pairs) {
    staged.push_back(staging(step, pair));
    for (int member = 0; member < size(); ++member) {
      if (member == group_.rank()) continue;
      messages.push_back(comm::send_to(member, slice(pair, member)));
      messages.push_back(comm::receive_from(member, rows_of(staged.back(), pair, member)));
    }
  }
  group_.exchange(messages).wait();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    for (int member = 0; member < size(); ++member) {
      const bool own = member == group_.rank();
      const Tensor from = own ? slice(pair, member) : rows_of(staged[i], pair, member);
      for (const layout::Move& move : moves_of(member)) {
        if (move.count == 0) continue;
        step.ops(kernels::Copy{from.row_range(move.from, move.count),
                               pair.heads.row_range(move.to, move.count)});
      }
    }
  }
}

void HeadExchange::to_tokens(Step& step, std::span<const Pair> pairs) const {
  kernels::Arena::Scope scope(step.scratch);
  std::vector<Tensor> sorted, arrived;
  std::vector<comm::Message> messages;
  for (const Pair& pair : pairs) {
    sorted.push_back(staging(step, pair));
    arrived.push_back(staging(step, pair));
    for (int member = 0; member < size(); ++member) {
      const Tensor rows = rows_of(sorted.back(), pair, member);
      for (const layout::Move& move : moves_of(member)) {
        if (move.count == 0) continue;
        step.ops(kernels::Copy{pair.heads.row_range(move.to, move.count),
                               rows.row_range(move.from, move.count)});
      }
      if (member == group_.rank()) continue;
      messages.push_back(comm::send_to(member, rows));
      messages.push_back(comm::receive_from(member, rows_of(arrived.back(), pair, member)));
    }
  }
  group_.exchange(messages).wait();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    for (int member = 0; member < size(); ++member) {
      const bool own = member == group_.rank();
      const Tensor from = rows_of(own ? sorted[i] : arrived[i], pair, member);
      const Tensor to = slice(pair, member);
      const bool shared = member > 0 && slice(pair, member - 1).data == to.data;
      if (shared) {
        step.ops(kernels::Add{from, to});
      } else {
        step.ops(kernels::Copy{from, to});
      }
    }
  }
}

}  // namespace cpplan::engine
