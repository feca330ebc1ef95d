#include "bench/link_bench.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace cpplan::bench {
namespace {
using comm::Tensor;
using Clock = std::chrono::steady_clock;

constexpr Index sizes[] = {2, 256, 1024, 4096, 16384, 65536, 262144, 1048576};  // floats
constexpr int link_batches = 7;

Tensor tensor_of(std::vector<float>& values, Index rows, Index cols) {
  return {reinterpret_cast<std::byte*>(values.data()), rows, cols, cols, kernels::DType::f32};
}

/// Both ranks make as many calls, since each waits for the other.
Index calls_of(Index floats) {
  return std::clamp<Index>(400'000 / (floats + 1000), 4, 200);
}

double seconds_of_calls(Index calls, const std::function<void()>& call) {
  std::vector<double> seconds;
  for (int batch = 0; batch < link_batches; ++batch) {
    const auto begin = Clock::now();
    for (Index i = 0; i < calls; ++i) call();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return undisturbed(std::move(seconds)) / static_cast<double>(calls);
}

template <class Call>
cluster::Curve measure(const Call& call) {
  std::vector<cluster::Curve::Point> points;
  for (const Index floats : sizes) {
    std::vector<float> mine(static_cast<std::size_t>(2 * floats)), theirs(mine.size());
    const auto once = [&] { call(mine, theirs, floats); };
    once();
    const double seconds = seconds_of_calls(calls_of(floats), once);
    points.push_back({static_cast<double>(4 * floats), seconds});
  }
  const auto curve = cluster::Curve::through(std::move(points));
  expect(curve.has_value(), "sizes grow");
  return *curve;
}

}  // namespace

cluster::Link measure_link(comm::Communicator& pair) {
  const int peer = 1 - pair.rank();
  cluster::Link link;
  link.message = measure([&](auto& mine, auto& theirs, Index floats) {
    const comm::Message both[] = {comm::receive_from(peer, tensor_of(theirs, 1, floats)),
                                  comm::send_to(peer, tensor_of(mine, 1, floats))};
    pair.exchange(both).wait();
  });
  link.sum = measure([&](auto& mine, auto& theirs, Index floats) {
    pair.reduce_scatter(tensor_of(mine, 2, floats), tensor_of(theirs, 1, floats)).wait();
  });
  return link;
}

}  // namespace cpplan::bench
