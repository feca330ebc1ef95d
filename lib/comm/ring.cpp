#include "comm/ring.hpp"

namespace cpplan::comm {
namespace {

struct Ring {
  int rank, size;
  int next() const { return (rank + 1) % size; }
  int previous() const { return (rank + size - 1) % size; }
  /// The block that lies `steps` places upstream of this rank.
  int upstream(int steps) const { return (rank - steps % size + size) % size; }
};

Step pass_on(const Ring& ring, const Tensor& out, const Tensor& in) {
  return {{receive_from(ring.previous(), in), send_to(ring.next(), out)}, {}, {}, {}};
}

Step pass_on_and_add(const Ring& ring, const Tensor& out, const Tensor& arrival, const Tensor& own,
                     const Tensor& into) {
  return {{receive_from(ring.previous(), arrival), send_to(ring.next(), out)}, into, arrival, own};
}

/// Contiguous memory of the shape of `like` at `data`.
Tensor packed(std::byte* data, const Tensor& like) {
  return {data, like.rows, like.cols, like.cols, like.dtype};
}

std::unique_ptr<std::byte[]> allocate(Bytes bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes.count));
}

Tensor block(const Tensor& whole, int i, int size) {
  const Index rows = whole.rows / size;
  return whole.row_range(i * rows, rows);
}

Tensor chunk_of(const Tensor& t, int i, int size) {
  const auto [first, count] = chunk(t.elements(), i, size);
  return {t.data + first * size_of(t.dtype), 1, count, count, t.dtype};
}

Schedule exchange(const Transfer& t) {
  Schedule result;
  result.steps.push_back({{t.messages.begin(), t.messages.end()}, {}, {}, {}});
  return result;
}

Schedule all_gather(const Transfer& t, const Ring& ring) {
  Schedule result;
  for (int s = 0; s < ring.size - 1; ++s)
    result.steps.push_back(pass_on(ring, block(t.out, ring.upstream(s), ring.size),
                                   block(t.out, ring.upstream(s + 1), ring.size)));
  return result;
}

/// Partial sums travel in two buffers, one arriving while the other leaves; `in` is only read.
Schedule reduce_scatter(const Transfer& t, const Ring& ring) {
  Schedule result{{}, allocate(2 * t.out.bytes())};
  const auto buffer = [&](int s) {
    return packed(result.staging.get() + s % 2 * t.out.bytes().count, t.out);
  };
  for (int s = 0; s < ring.size - 1; ++s) {
    const Tensor out = s == 0 ? block(t.in, ring.upstream(1), ring.size) : buffer(s - 1);
    const Tensor into = s == ring.size - 2 ? t.out : buffer(s);
    const Tensor own = block(t.in, ring.upstream(s + 2), ring.size);
    result.steps.push_back(pass_on_and_add(ring, out, buffer(s), own, into));
  }
  return result;
}

/// A reduce-scatter of chunks in place, then an all-gather of them.
Schedule all_reduce(const Transfer& t, const Ring& ring) {
  const auto piece = [&](int steps) { return chunk_of(t.in, ring.upstream(steps), ring.size); };
  const Index largest = ceil_div(t.in.elements(), ring.size);
  Schedule result{{}, allocate({largest * size_of(t.in.dtype)})};
  for (int s = 0; s < ring.size - 1; ++s) {
    const Tensor own = piece(s + 2);
    const Tensor arrival = packed(result.staging.get(), own);
    result.steps.push_back(pass_on_and_add(ring, piece(s + 1), arrival, own, own));
  }
  for (int s = 0; s < ring.size - 1; ++s)
    result.steps.push_back(pass_on(ring, piece(s), piece(s + 1)));
  return result;
}

}  // namespace

Schedule schedule(const Transfer& t, int rank, int size) {
  switch (t.collective) {
    case Collective::exchange:
      return exchange(t);
    case Collective::all_gather:
      return all_gather(t, {rank, size});
    case Collective::reduce_scatter:
      return reduce_scatter(t, {rank, size});
    case Collective::all_reduce:
      return all_reduce(t, {rank, size});
  }
  return {};
}

}  // namespace cpplan::comm
