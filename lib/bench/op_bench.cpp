#include "bench/op_bench.hpp"

#include <algorithm>

#include "bench/op_shapes.hpp"

namespace cpplan::bench {
namespace {

constexpr Bytes turns{Index{16} << 20};  // of all copies: what a small step touches, which is in
                                         // a cache that cores share, and not in a core's own
constexpr Bytes room{Index{96} << 20};   // for the largest case
constexpr Index most_copies = 512;

Index copies_of(const CaseMaker& maker) {
  return std::clamp<Index>(turns.count / std::max<Index>(maker.operands.count, 1), 1, most_copies);
}

double size_of(const kernels::Cost& cost) {
  if (cost.inner > 0) return static_cast<double>(cost.flops.count);
  return static_cast<double>((cost.read + cost.written).count);
}

void in_order(AllPoints& all) {
  for (auto& [op, by_length] : all)
    for (auto& [inner, points] : by_length)
      std::ranges::sort(points, {}, &cluster::Curve::Point::size);
}

}  // namespace

AllPoints measure_ops(kernels::Ops& ops, const Barrier& together, const Progress& progress) {
  AllPoints all;
  kernels::Arena arena(ops.allocate(room), room);
  const auto makers = op_cases();
  Index done = 0;
  for (const CaseMaker& maker : makers) {
    arena.clear();
    const OpCase measured = maker.make(ops, arena, copies_of(maker));
    Index turn = 0;
    const double seconds = seconds_of([&] { measured.run(turn++ % measured.copies); }, together);
    const auto inner = static_cast<double>(measured.cost.inner);
    all[measured.op][inner].push_back({size_of(measured.cost), seconds});
    progress(++done, std::ssize(makers));
  }
  in_order(all);
  return all;
}

}  // namespace cpplan::bench
