#include "comm/communicator.hpp"

#include <algorithm>
#include <vector>

#include "comm/copy_rows.hpp"

namespace cpplan::comm {
namespace {

void expect_shards(const Tensor& shard, const Tensor& whole, int size) {
  expect(whole.rows == shard.rows * size, "the whole has the rows of all shards");
  expect(whole.cols == shard.cols && whole.dtype == shard.dtype,
         "shard and whole have the same columns and type");
}

void expect_shapes(const Transfer& t, int rank, int size) {
  switch (t.collective) {
    case Collective::exchange:
      for (const Message& m : t.messages)
        expect(m.peer >= 0 && m.peer < size && m.peer != rank,
               "an exchange is with another rank of the group");
      return;
    case Collective::all_gather:
      return expect_shards(t.in, t.out, size);
    case Collective::reduce_scatter:
      return expect_shards(t.out, t.in, size);
    case Collective::all_reduce:
      expect(t.in.contiguous(), "an all-reduce is of contiguous memory");
      return;
  }
}

/// One route a peer, in the order of their first messages.
std::vector<kernels::Route> routes_of(std::span<const Message> messages) {
  std::vector<kernels::Route> routes;
  for (const Message& m : messages) {
    auto route = std::find_if(routes.begin(), routes.end(),
                              [&](const kernels::Route& r) { return r.peer == m.peer; });
    if (route == routes.end()) route = routes.insert(route, {m.peer, {}, {}});
    (m.sends() ? route->sent : route->received) += m.buffer.bytes();
  }
  return routes;
}

Bytes sent_in_exchange(std::span<const Message> messages) {
  Bytes sent;
  for (const Message& m : messages)
    if (m.sends()) sent += m.buffer.bytes();
  return sent;
}

/// The ring reduce-scatter passes on every chunk but `rank`, which ends here; the ring all-gather
/// every chunk but the next rank's, which has it already.
Bytes sent_in_all_reduce(const Tensor& t, int rank, int size) {
  Index elements = 2 * t.elements();
  elements -= chunk(t.elements(), rank, size).count;
  elements -= chunk(t.elements(), (rank + 1) % size, size).count;
  return {elements * size_of(t.dtype)};
}

/// Hops of the ring all-reduce that carry a chunk, as sent_in_all_reduce() has them.
Index messages_in_all_reduce(const Tensor& t, int rank, int size) {
  const auto carries = [&](int i) { return Index{chunk(t.elements(), i, size).count > 0}; };
  return 2 * std::min<Index>(t.elements(), size) - carries(rank) - carries((rank + 1) % size);
}

/// A transfer that was over before it began; it must be waited for all the same.
struct Done final : Work::Pending {
  void wait() override {}
};

}  // namespace

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::exchange:
      return "exchange";
    case Collective::all_gather:
      return "all_gather";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::all_reduce:
      return "all_reduce";
  }
  return "";
}

Bytes sent_bytes(const Transfer& t, int rank, int size) {
  switch (t.collective) {
    case Collective::exchange:
      return sent_in_exchange(t.messages);
    case Collective::all_gather:
      return (size - 1) * t.in.bytes();
    case Collective::reduce_scatter:
      return (size - 1) * t.out.bytes();
    case Collective::all_reduce:
      return sent_in_all_reduce(t.in, rank, size);
  }
  return {};
}

Index sent_messages(const Transfer& t, int rank, int size) {
  switch (t.collective) {
    case Collective::exchange:
      return std::count_if(t.messages.begin(), t.messages.end(),
                           [](const Message& m) { return m.sends() && m.buffer.elements() > 0; });
    case Collective::all_gather:
      return t.in.elements() > 0 ? size - 1 : 0;
    case Collective::reduce_scatter:
      return t.out.elements() > 0 ? size - 1 : 0;
    case Collective::all_reduce:
      return messages_in_all_reduce(t.in, rank, size);
  }
  return 0;
}

Work Communicator::exchange(std::span<const Message> messages) {
  return launch({Collective::exchange, {}, {}, messages});
}

Work Communicator::all_gather(Tensor shard, Tensor whole) {
  return launch({Collective::all_gather, shard, whole, {}});
}

Work Communicator::reduce_scatter(Tensor whole, Tensor shard) {
  return launch({Collective::reduce_scatter, whole, shard, {}});
}

Work Communicator::all_reduce(Tensor t, Reduce reduce) {
  return launch({Collective::all_reduce, t, t, {}, reduce});
}

void Communicator::copy(const Tensor& from, const Tensor& to) {
  copy_rows(from, to);
}

Work Communicator::launch(const Transfer& t) {
  expect_shapes(t, rank_, size_);
  const int id = trace_.next_id();
  const auto routes = routes_of(t.messages);
  trace_.start({id, group_, name_of(t.collective), rank_, size_, sent_bytes(t, rank_, size_),
                routes, number_, sent_messages(t, rank_, size_)});
  if (size_ > 1) return {start(t), trace_, group_, id};
  if (t.collective != Collective::exchange) copy(t.in, t.out);
  return {std::make_unique<Done>(), trace_, group_, id};
}

}  // namespace cpplan::comm
