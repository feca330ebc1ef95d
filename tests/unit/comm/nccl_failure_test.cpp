// What NCCL does not forgive: the fake must hang or refuse, and the rank must come back from it.
#include "base/failure.hpp"
#include "device_ranks.hpp"

namespace cpplan::comm::test {
namespace {
using cpplan::test::standing_still;
using Result = NcclApi::Result;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Waits until `text` is among what stands still; for a test that would otherwise hang, not for
/// long.
bool stands_still(const std::string& text) {
  const auto until = std::chrono::steady_clock::now() + 10s;
  while (std::chrono::steady_clock::now() < until) {
    if (contains(standing_still(), text)) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

constexpr std::chrono::milliseconds short_deadline = 300ms;

/// A wait of the host that only a failure ends.
struct Never final : Ongoing {
  bool advance() override { return false; }
  Awaited awaited() const override { return {"nobody", "nothing"}; }
  bool polled() const override { return true; }
};

TEST_CASE("nccl: collectives in another order end at the deadline and say who waits where") {
  std::string still;
  const auto failed = on_devices({.size = 2, .deadline = short_deadline}, [&](const DeviceRank& r) {
    Matrix shard = filled(DType::f32, r.rank, 2, 3), whole(DType::f32, 4, 3);
    Matrix sum = filled(DType::f32, r.rank, 1, 5);
    std::vector<Work> works;
    if (r.rank == 0) works.push_back(r.group.all_reduce(sum.tensor()));
    works.push_back(r.group.all_gather(shard.tensor(), whole.tensor()));
    if (r.rank == 1) works.push_back(r.group.all_reduce(sum.tensor()));
    if (r.rank == 0) still = stands_still("rank 1 gathers 6 f32") ? standing_still() : "";
    for (Work& work : works) work.wait();
    synchronize(r.device);
    r.nccl->monitor().check();
  });
  CHECK(contains(still, "rank 0 reduces 5 f32 (does not fit its peer's)"));
  CAPTURE(failed);
  CHECK(contains(failed, "did not answer within 0.3 s ("));
  CHECK(contains(failed, "of group \"cp\" over NCCL, on rank "));
  CHECK(contains(failed, " of host a). If it is only slow, a longer --timeout helps"));
}

TEST_CASE("nccl: messages of different sizes end at the deadline") {
  const auto failed = on_devices({.size = 3, .deadline = short_deadline}, [&](const DeviceRank& r) {
    Matrix out = filled(DType::f32, r.rank, 2, r.rank == 1 ? 4 : 3), in(DType::f32, 2, 3);
    const Message ring[] = {send_to((r.rank + 1) % 3, out.tensor()),
                            receive_from((r.rank + 2) % 3, in.tensor())};
    r.group.exchange(ring).wait();
    synchronize(r.device);
    r.nccl->monitor().check();
  });
  CAPTURE(failed);
  CHECK(contains(failed, "(exchange of group \"cp\" over NCCL, on rank "));
}

TEST_CASE("nccl: a peer that never comes to its first transfer is noticed by the host") {
  const DeviceRanks two{.size = 2, .deadline = short_deadline, .connected = false};
  const auto failed = on_devices(two, [](const DeviceRank& r) {
    Matrix sum = filled(DType::f32, r.rank, 1, 5);
    if (r.rank == 1) return;
    r.group.all_reduce(sum.tensor()).wait();
  });
  CHECK(contains(failed,
                 "one of 2 ranks did not answer within 0.3 s (start of NCCL in group "
                 "\"cp\", on rank 0 of host a)"));
}

TEST_CASE("nccl: a peer that stops later is noticed while the host waits for the device") {
  const auto begin = std::chrono::steady_clock::now();
  const auto failed =
      on_devices({.size = 3, .compute = HostStream::Kind::immediate}, [](const DeviceRank& r) {
        Matrix sum = filled(DType::f32, r.rank, 1, 5);
        r.group.all_reduce(sum.tensor()).wait();
        if (r.rank == 2) return;
        r.nccl->host().set_deadline(short_deadline);
        r.group.all_reduce(sum.tensor()).wait();
      });
  CHECK(contains(failed, "or 2 did not answer within 0.3 s (all_reduce of group \"cp\" over NCCL"));
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
}

TEST_CASE("nccl: the deadline of a transfer counts from when its turn comes") {
  const auto failed = on_devices({.size = 2, .deadline = 1000ms}, [](const DeviceRank& r) {
    Matrix one = filled(DType::f32, r.rank, 1, 5), two = filled(DType::f32, r.rank, 1, 5);
    std::vector<Work> works;
    for (Matrix* sum : {&one, &two}) {
      if (r.rank == 1) std::this_thread::sleep_for(600ms);
      works.push_back(r.group.all_reduce(sum->tensor()));
    }
    for (Work& work : works) work.wait();
    synchronize(r.device);
    r.nccl->monitor().check();
  });
  CHECK(failed == "");
}

TEST_CASE("nccl: an error that it reports beside the host ends the rank long before the deadline") {
  const auto begin = std::chrono::steady_clock::now();
  const auto failed =
      on_devices({.size = 2, .compute = HostStream::Kind::immediate, .deadline = 60s},
                 [](const DeviceRank& r) {
                   Matrix sum = filled(DType::f32, r.rank, 1, 5);
                   r.group.all_reduce(sum.tensor()).wait();
                   if (r.rank == 1) {
                     cpplan::test::break_communicators_of(0, Result::remote_error);
                     Never never;
                     r.nccl->host().wait_for(never);
                   }
                   r.group.all_reduce(sum.tensor()).wait();
                 });
  CAPTURE(failed);
  CHECK(contains(failed, "remote process exited or there was a network error"));
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
}

TEST_CASE("nccl: a failure is thrown in waits of the host's transport as well") {
  const auto failed = on_devices({.size = 2}, [](const DeviceRank& r) {
    Matrix sum = filled(DType::f32, r.rank, 1, 5);
    r.group.all_reduce(sum.tensor()).wait();
    synchronize(r.device);
    if (r.rank == 1) return;
    r.nccl->host().set_deadline(short_deadline);
    r.group.all_reduce(sum.tensor()).wait();
    r.nccl->host().set_deadline(long_deadline);
    Never never;
    r.nccl->host().wait_for(never);
  });
  CHECK(contains(failed, "rank 1 did not answer within 0.3 s (all_reduce"));
}

}  // namespace
}  // namespace cpplan::comm::test
