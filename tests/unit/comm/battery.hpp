#pragma once
// All kinds of transfer on one group, as bytes to compare: between orders of waiting, and between
// transports.
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "comm/communicator.hpp"
#include "unit/comm/support.hpp"

namespace cpplan::comm::test {

inline std::vector<std::byte> joined(std::initializer_list<const Matrix*> matrices) {
  std::vector<std::byte> all;
  for (const Matrix* m : matrices) all.insert(all.end(), m->memory().begin(), m->memory().end());
  return all;
}

/// `rows` scales the messages; odd counts, so that no chunk is like another.
struct Operands {
  Operands(int rank, int size, Index rows)
      : sum(filled(DType::f32, rank, 1, rows * 51 + 1)),
        greatest(filled(DType::i32, rank, 1, rows * 7 + 3)),
        shard(filled(DType::f32, rank + 50, rows, 11, 13)),
        whole(DType::f32, rows * size, 11, 12),
        theirs(DType::f32, rows, 11),
        parts(filled(DType::f64, rank, rows * size, 5)),
        part(DType::f64, rows, 5) {}
  Matrix sum, greatest, shard, whole, theirs, parts, part;
  std::vector<std::byte> results() const {
    return joined({&sum, &greatest, &whole, &theirs, &part});
  }
};

/// All under way together, and waited for in an order that differs from rank to rank.
inline std::vector<std::byte> several_at_once(Communicator& group, Index rows) {
  const int rank = group.rank(), size = group.size();
  Operands o(rank, size, rows);
  const Message ring[] = {send_to((rank + 1) % size, o.shard.tensor()),
                          receive_from((rank + size - 1) % size, o.theirs.tensor())};
  std::vector<Work> works;
  works.push_back(group.all_reduce(o.sum.tensor()));
  works.push_back(group.all_gather(o.shard.tensor(), o.whole.tensor()));
  works.push_back(group.exchange(ring));
  works.push_back(group.reduce_scatter(o.parts.tensor(), o.part.tensor()));
  works.push_back(group.all_reduce(o.greatest.tensor(), Reduce::max));
  for (std::size_t i = 0; i < works.size(); ++i)
    works[(i + static_cast<std::size_t>(rank)) % works.size()].wait();
  return o.results();
}

inline std::vector<std::byte> one_after_the_other(Communicator& group, Index rows) {
  const int rank = group.rank(), size = group.size();
  Operands o(rank, size, rows);
  const Message ring[] = {receive_from((rank + size - 1) % size, o.theirs.tensor()),
                          send_to((rank + 1) % size, o.shard.tensor())};
  group.exchange(ring).wait();
  group.all_reduce(o.greatest.tensor(), Reduce::max).wait();
  group.reduce_scatter(o.parts.tensor(), o.part.tensor()).wait();
  group.all_gather(o.shard.tensor(), o.whole.tensor()).wait();
  group.all_reduce(o.sum.tensor()).wait();
  return o.results();
}

}  // namespace cpplan::comm::test
