// Transfers between devices, over NCCL and by way of the host, against those of ranks on the host.
// Values are integers, of which sums are exact in any order.
#include "battery.hpp"
#include "device_ranks.hpp"

namespace cpplan::comm::test {
namespace {

constexpr int sizes[] = {2, 3, 5};
constexpr DType dtypes[] = {DType::i32, DType::bf16, DType::f32, DType::f64};
constexpr Way ways[] = {Way::nccl, Way::staged};

/// Between -16 and 15: sums of five are exact in bf16.
Matrix small_integers(DType dtype, int rank, Index rows, Index cols, Index stride = 0) {
  Matrix matrix(dtype, rows, cols, stride);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      matrix.put(i, j, static_cast<int>(value_of(DType::i32, rank, i, j)) % 16);
  return matrix;
}

/// In the memory that `to` has.
void write(const Matrix& values, Matrix& to) {
  std::memcpy(to.tensor().data, values.memory().data(), values.memory().size());
}

/// What a rank is left with when all kinds of transfer were under way together, in columns of wider
/// matrices where that is allowed.
struct Everything {
  Everything(DType dtype, int rank, int size)
      : shard(small_integers(dtype, rank + 50, 3, 7, 9)),
        whole(dtype, 3 * size, 7, 8),
        parts(small_integers(dtype, rank, 3 * size, 5, 6)),
        part(dtype, 3, 5, 11),
        sum(small_integers(dtype, rank + 9, 1, 23)),
        greatest(small_integers(dtype, rank + 70, 1, 5)),
        leaving(small_integers(dtype, rank + 20, 4, 2 * size)),
        arrived(dtype, 4 * size, 2, 3) {}

  void run(Communicator& group) {
    const int rank = group.rank(), size = group.size();
    std::vector<Message> to_all;
    for (int peer = 0; peer < size; ++peer) {
      if (peer == rank) continue;
      to_all.push_back(send_to(peer, leaving.tensor().col_range(2 * peer, 2)));
      to_all.push_back(receive_from(peer, arrived.tensor().row_range(4 * peer, 4)));
    }
    std::vector<Work> works;
    works.push_back(group.all_gather(shard.tensor(), whole.tensor()));
    works.push_back(group.exchange(to_all));
    works.push_back(group.reduce_scatter(parts.tensor(), part.tensor()));
    works.push_back(group.all_reduce(sum.tensor()));
    works.push_back(group.all_reduce(greatest.tensor(), Reduce::max));
    for (std::size_t i = 0; i < works.size(); ++i)
      works[(i + static_cast<std::size_t>(rank)) % works.size()].wait();
  }

  std::vector<std::byte> results() const {
    return joined({&whole, &parts, &part, &sum, &greatest, &arrived});
  }

  Matrix shard, whole, parts, part, sum, greatest, leaving, arrived;
};

std::vector<std::vector<std::byte>> on_hosts(DType dtype, int size) {
  std::vector<std::vector<std::byte>> results(static_cast<std::size_t>(size));
  ThreadWorld world(size, 20s);
  const auto done = run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    Everything everything(dtype, rank, size);
    everything.run(*make_thread_communicator(world, "cp", 0, first_ranks(size), rank, trace));
    results[static_cast<std::size_t>(rank)] = everything.results();
  });
  REQUIRE(done.has_value());
  return results;
}

TEST_CASE("devices: every kind of transfer and type gives what ranks of the host get") {
  for (const Way way : ways)
    for (const int size : sizes)
      for (const DType dtype : dtypes) {
        CAPTURE(size);
        const auto expected = on_hosts(dtype, size);
        const auto failed = on_devices({.size = size, .way = way}, [&](const DeviceRank& r) {
          for (int round = 0; round < 2; ++round) {
            Everything everything(dtype, r.rank, size);
            everything.run(r.group);
            synchronize(r.device);
            expect(everything.results() == expected[static_cast<std::size_t>(r.rank)],
                   "what ranks of the host get");
          }
        });
        CHECK(failed == "");
      }
}

TEST_CASE("devices: what nobody has is sent and received nowhere") {
  for (const Way way : ways) {
    const auto failed = on_devices({.size = 3, .way = way}, [](const DeviceRank& r) {
      Matrix none(DType::f32, 0, 4), all(DType::f32, 0, 4);
      const Message ring[] = {send_to((r.rank + 1) % 3, none.tensor()),
                              receive_from((r.rank + 2) % 3, all.tensor())};
      r.group.exchange(ring).wait();
      r.group.all_gather(none.tensor(), all.tensor()).wait();
      r.group.all_reduce(none.tensor()).wait();
    });
    CHECK(failed == "");
  }
}

TEST_CASE("devices: the shard may be its own place in the whole") {
  for (const Way way : ways) {
    const auto failed = on_devices({.size = 3, .way = way}, [](const DeviceRank& r) {
      Matrix whole = small_integers(DType::f32, r.rank, 6, 5);
      const Tensor own = whole.tensor().row_range(2 * r.rank, 2);
      r.group.reduce_scatter(whole.tensor(), own).wait();
      r.group.all_gather(own, whole.tensor()).wait();
      synchronize(r.device);
      for (Index i = 0; i < 6; ++i) {
        double sum = 0;
        for (int rank = 0; rank < 3; ++rank)
          sum += static_cast<int>(value_of(DType::i32, rank, i, 3)) % 16;
        expect(whole.at(i, 3) == sum, "sums of all ranks in all places");
      }
    });
    CHECK(failed == "");
  }
}

TEST_CASE("devices: a group of one copies behind what the device computes") {
  for (const Way way : ways) {
    const auto failed = on_devices({.size = 1, .way = way}, [](const DeviceRank& r) {
      Matrix shard(DType::f32, 2, 3), whole(DType::f32, 2, 3, 5);
      r.device.compute([&] { write(small_integers(DType::f32, 4, 2, 3), shard); });
      r.group.all_gather(shard.tensor(), whole.tensor()).wait();
      synchronize(r.device);
      expect(whole.at(1, 2) == shard.at(1, 2), "what was computed before");
    });
    CHECK(failed == "");
  }
}

TEST_CASE("devices: a transfer starts behind what was computed and later work behind its end") {
  for (const Way way : ways)
    for (const int size : sizes) {
      const auto failed = on_devices({.size = size, .way = way}, [&](const DeviceRank& r) {
        const int previous = (r.rank + size - 1) % size;
        Matrix mine(DType::f32, 300, 50), theirs(DType::f32, 300, 50);
        bool arrived = false;
        for (int round = 0; round < 5; ++round) {
          r.device.compute([&, round] {
            std::this_thread::sleep_for(1ms * r.rank);
            write(filled(DType::f32, r.rank + round, 300, 50), mine);
          });
          const Message ring[] = {send_to((r.rank + 1) % size, mine.tensor()),
                                  receive_from(previous, theirs.tensor())};
          r.group.exchange(ring).wait();
          r.device.compute([&, round] {
            arrived = theirs.memory() == filled(DType::f32, previous + round, 300, 50).memory();
          });
          synchronize(r.device);
          expect(arrived, "what the rank before had computed");
        }
      });
      CHECK(failed == "");
    }
}

/// Keys go round while each hop is computed on, in two buffers that take turns, and gradients
/// follow one hop behind.
TEST_CASE("devices: a ring with two buffers passes all that it should however late a rank is") {
  for (const Way way : ways)
    for (const int size : sizes) {
      const auto failed = on_devices({.size = size, .way = way}, [&](const DeviceRank& r) {
        const int next = (r.rank + 1) % size, previous = (r.rank + size - 1) % size;
        std::vector<Matrix> buffers(2, {DType::f32, 40, 30});
        Matrix own = filled(DType::f32, r.rank, 40, 30);
        Tensor held = own.tensor();
        std::vector<double> seen;
        for (int hop = 0; hop < size; ++hop) {
          Work arrival;
          const Tensor arriving = buffers[static_cast<std::size_t>(hop % 2)].tensor();
          const Message ring[] = {send_to(next, held), receive_from(previous, arriving)};
          if (hop + 1 < size) arrival = r.group.exchange(ring);
          r.device.compute([&seen, held, rank = r.rank] {
            std::this_thread::sleep_for(std::chrono::microseconds(300 * rank));
            seen.push_back(held.row<float>(39)[29]);
          });
          arrival.wait();
          held = arriving;
        }
        synchronize(r.device);
        for (int hop = 0; hop < size; ++hop)
          expect(seen[static_cast<std::size_t>(hop)] ==
                     value_of(DType::f32, (r.rank + size - hop) % size, 39, 29),
                 "the keys of the rank `hop` places before");
      });
      CHECK(failed == "");
    }
}

TEST_CASE("devices: sums of reals are the same on all ranks and near the exact one") {
  for (const int size : sizes)
    for (const DType dtype : {DType::bf16, DType::f32, DType::f64}) {
      std::vector<Matrix> sums(static_cast<std::size_t>(size), {dtype, 1, 97});
      const auto failed = on_devices({.size = size}, [&](const DeviceRank& r) {
        auto& sum = sums[static_cast<std::size_t>(r.rank)];
        sum = filled(dtype, r.rank, 1, 97);
        r.group.all_reduce(sum.tensor()).wait();
      });
      CHECK(failed == "");
      const double epsilon =
          dtype == DType::bf16 ? 0x1p-8 : (dtype == DType::f32 ? 0x1p-24 : 0x1p-53);
      for (Index j = 0; j < 97; ++j) {
        double exact = 0, magnitude = 0;
        for (int rank = 0; rank < size; ++rank) {
          exact += value_of(dtype, rank, 0, j);
          magnitude += std::fabs(value_of(dtype, rank, 0, j));
        }
        CHECK(std::fabs(sums[0].at(0, j) - exact) <= size * epsilon * magnitude);
      }
      for (const Matrix& sum : sums) CHECK(sum.memory() == sums[0].memory());
    }
}

TEST_CASE("devices: no memory is made after the first round") {
  for (const Way way : ways) {
    const auto failed = on_devices({.size = 2, .way = way}, [](const DeviceRank& r) {
      std::size_t after_first = 0;
      for (int round = 0; round < 6; ++round) {
        Everything everything(DType::f32, r.rank, 2);
        everything.run(r.group);
        synchronize(r.device);
        if (round == 0) after_first = r.device.allocations();
      }
      expect(r.device.allocations() == after_first, "blocks are used again");
    });
    CHECK(failed == "");
  }
}

}  // namespace
}  // namespace cpplan::comm::test
