// What the collectives of the fake NCCL compute: on all ranks at once, since all are on the device.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/bf16.hpp"
#include "support/fake_clique.hpp"

namespace cpplan::test {
namespace {
using Kind = FakeCall::Kind;
using kernels::Bf16;

/// As fmaxf() has it: a number wins over NaN.
template <class T>
T greater_of(T a, T b) {
  return a > b || b != b ? a : b;
}

/// Over ranks first ... last - 1 as a tree, in f32 or better, rounded once: an order that is
/// neither that of the ranks nor that of a ring.
template <class T, class Sum>
Sum sum_of(const std::vector<const FakeCall*>& calls, std::size_t i, std::size_t first,
           std::size_t last) {
  if (last - first == 1) return static_cast<Sum>(static_cast<const T*>(calls[first]->in)[i]);
  const std::size_t middle = (first + last) / 2;
  return sum_of<T, Sum>(calls, i, middle, last) + sum_of<T, Sum>(calls, i, first, middle);
}

template <class T, class Sum>
T reduced(const std::vector<const FakeCall*>& calls, std::size_t i) {
  if (calls[0]->op == NcclApi::Op::sum)
    return static_cast<T>(sum_of<T, Sum>(calls, i, 0, calls.size()));
  Sum greatest = static_cast<Sum>(static_cast<const T*>(calls[0]->in)[i]);
  for (const FakeCall* call : calls)
    greatest = greater_of(greatest, static_cast<Sum>(static_cast<const T*>(call->in)[i]));
  return static_cast<T>(greatest);
}

/// Rank r gets `count` elements from r * count on of a reduce-scatter, and all of an all-reduce.
/// Inputs may be outputs.
template <class T, class Sum>
void reduce(const std::vector<const FakeCall*>& calls) {
  const bool scatters = calls[0]->kind == Kind::reduce_scatter;
  const std::size_t count = calls[0]->count, whole = scatters ? count * calls.size() : count;
  std::vector<T> result(whole);
  for (std::size_t i = 0; i < whole; ++i) result[i] = reduced<T, Sum>(calls, i);
  for (std::size_t rank = 0; rank < calls.size(); ++rank)
    std::memcpy(calls[rank]->out, result.data() + (scatters ? rank * count : 0), count * sizeof(T));
}

void gather(const std::vector<const FakeCall*>& calls) {
  const std::size_t part = bytes_of(*calls[0]);
  std::vector<std::byte> whole(part * calls.size());
  for (std::size_t rank = 0; rank < calls.size(); ++rank)
    std::memcpy(whole.data() + rank * part, calls[rank]->in, part);
  for (const FakeCall* call : calls) std::memcpy(call->out, whole.data(), whole.size());
}

}  // namespace

std::size_t bytes_of(const FakeCall& call) {
  switch (call.type) {
    case NcclApi::Type::f64:
      return call.count * 8;
    case NcclApi::Type::bf16:
      return call.count * 2;
    case NcclApi::Type::i32:
    case NcclApi::Type::f32:
      return call.count * 4;
  }
  return 0;
}

void run_collective(const std::vector<const FakeCall*>& calls) {
  if (calls[0]->kind == Kind::all_gather) return gather(calls);
  switch (calls[0]->type) {
    case NcclApi::Type::f64:
      return reduce<double, double>(calls);
    case NcclApi::Type::bf16:
      return reduce<Bf16, float>(calls);
    case NcclApi::Type::i32:
      return reduce<std::int32_t, std::int32_t>(calls);
    case NcclApi::Type::f32:
      return reduce<float, float>(calls);
  }
}

}  // namespace cpplan::test
