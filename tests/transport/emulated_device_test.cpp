// The CUDA device of the transports on the emulated runtime, whose streams run when they are waited
// for: what a transport forgets to order is not there when it is read.
#include <doctest/doctest.h>

#include "comm/rank_runner.hpp"
#include "comm/staged.hpp"
#include "emulator/settings.hpp"
#include "kernels/cuda/stream_device.hpp"
#include "unit/comm/recorder.hpp"
#include "unit/comm/support.hpp"

namespace cpplan::comm::test {
namespace {
using namespace std::chrono_literals;
namespace cuda = kernels::cuda;

/// A tensor in the device's memory, in rows of `stride` elements.
class DeviceMatrix {
 public:
  DeviceMatrix(DType dtype, Index rows, Index cols, Index stride)
      : tensor_{nullptr, rows, cols, stride, dtype},
        memory_(Bytes{rows * stride * size_of(dtype)}) {
    tensor_.data = memory_.data();
  }

  Tensor tensor() const { return tensor_; }
  /// Queued on `stream`; `values` has the same stride.
  void upload(Matrix& values, const cuda::Stream& stream) {
    cuda::copy_to_device(memory_.data(), values.tensor().data, memory_.bytes(), stream);
  }
  Matrix download(const cuda::Stream& stream) const {
    Matrix values(tensor_.dtype, tensor_.rows, tensor_.cols, tensor_.stride);
    cuda::copy_to_host(values.tensor().data, memory_.data(), memory_.bytes(), stream);
    return values;
  }

 private:
  Tensor tensor_;
  cuda::DeviceMemory memory_;
};

/// All kinds of transfer, of columns in wider matrices.
void check_transfers(Communicator& group, const cuda::Stream& compute) {
  const int rank = group.rank(), size = group.size(), previous = (rank + size - 1) % size;
  Matrix mine = filled(DType::f32, rank, 3, 5, 7), sum = filled(DType::i32, rank, 1, 11);
  DeviceMatrix shard(DType::f32, 3, 5, 7), theirs(DType::f32, 3, 5, 6);
  DeviceMatrix whole(DType::f32, 3 * size, 5, 9), total(DType::i32, 1, 11, 11);
  shard.upload(mine, compute);
  total.upload(sum, compute);
  const Message ring[] = {send_to((rank + 1) % size, shard.tensor()),
                          receive_from(previous, theirs.tensor())};
  Work exchange = group.exchange(ring);
  Work gather = group.all_gather(shard.tensor(), whole.tensor());
  Work reduce = group.all_reduce(total.tensor());
  reduce.wait(), gather.wait(), exchange.wait();
  const Matrix arrived = theirs.download(compute), gathered = whole.download(compute);
  const Matrix added = total.download(compute);
  for (Index i = 0; i < 3; ++i)
    expect(arrived.at(i, 4) == value_of(DType::f32, previous, i, 4), "of the rank before");
  for (Index i = 0; i < 3 * size; ++i)
    expect(gathered.at(i, 4) == value_of(DType::f32, static_cast<int>(i / 3), i % 3, 4), "of all");
  double expected = 0;
  for (int r = 0; r < size; ++r) expected += value_of(DType::i32, r, 0, 10);
  expect(added.at(0, 10) == expected, "the sum of all");
}

TEST_CASE("emulated device: ranks exchange by way of the host whenever its streams run") {
  for (const auto streams : {emulator::StreamTime::at_the_wait, emulator::StreamTime::at_once}) {
    emulator::settings().streams = streams;
    for (const int size : {2, 3, 5}) {
      ThreadWorld world(size, 20s);
      const auto result = run_ranks(world, [&](int rank) {
        Recorder trace;
        kernels::NoTrace of_host;
        cuda::use_device(0);
        const cuda::Stream compute;
        cuda::StreamDevice device(0, compute);
        PinnedBlocks blocks(device);
        std::vector<int> members;
        for (int r = 0; r < size; ++r) members.push_back(r);
        const auto group = make_staged_communicator(
            device, blocks, world.endpoint(rank),
            make_thread_communicator(world, "cp", 0, members, rank, of_host), trace);
        for (int round = 0; round < 3; ++round) check_transfers(*group, compute);
        const Bytes sent = trace.sent("cp", "exchange");
        expect(world.endpoint(rank).posted().at({"cp", "exchange"}).bytes == sent, "as planned");
      });
      CHECK((result ? "" : result.error().message) == "");
    }
  }
  emulator::settings() = {};
}

TEST_CASE("emulated device: ranks on one piece of hardware have one address") {
  cuda::use_device(0);
  const cuda::Stream compute;
  cuda::StreamDevice one(0, compute), other(0, compute);
  CHECK(one.bus_id() == other.bus_id());
  CHECK(one.name() == "0 (emulated device)");
}

}  // namespace
}  // namespace cpplan::comm::test
