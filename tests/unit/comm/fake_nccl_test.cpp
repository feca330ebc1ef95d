// The fake NCCL is as strict as its manual: what would hang on hardware hangs here.
#include "base/failure.hpp"
#include "device_ranks.hpp"

namespace cpplan::comm::test {
namespace {
using cpplan::test::fake_nccl;
using cpplan::test::standing_still;
using Result = NcclApi::Result;
using Type = NcclApi::Type;

/// Two ranks that one thread drives, as calls do not block.
struct Pair {
  Pair() {
    NcclApi::UniqueId id;
    api.get_unique_id(&id);
    for (int rank = 0; rank < 2; ++rank) {
      CHECK(api.init_rank(&comms[rank], 2, &id, rank) == Result::in_progress);
      streams[rank] = device.make_stream();
    }
    settle();
  }
  ~Pair() {
    for (NcclApi::Comm* comm : comms) api.abort(comm);
  }

  /// Until nothing is in progress.
  void settle() {
    Result states[2] = {Result::in_progress, Result::in_progress};
    while (states[0] == Result::in_progress || states[1] == Result::in_progress)
      for (int rank = 0; rank < 2; ++rank) api.async_error(comms[rank], &states[rank]);
  }

  Result send(int rank, const Matrix& m) {
    return api.send(m.memory().data(), 4, Type::f32, 1 - rank, comms[rank], streams[rank].handle);
  }
  Result receive(int rank, Matrix& m) {
    return api.receive(m.tensor().data, 4, Type::f32, 1 - rank, comms[rank], streams[rank].handle);
  }

  /// Both send and receive; `grouped` in one operation.
  void exchange(bool grouped) {
    for (int rank = 0; rank < 2; ++rank) {
      if (grouped) api.group_start();
      send(rank, leaving[rank]);
      if (!grouped) settle();
      receive(rank, arriving[rank]);
      if (grouped) api.group_end();
      if (!grouped) settle();
    }
    settle();
  }

  /// Whether both streams come to their ends within `limit`.
  bool ends_within(std::chrono::milliseconds limit) {
    for (int rank = 0; rank < 2; ++rank) device.record(ends[rank], streams[rank]);
    const auto until = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < until) {
      if (device.done(ends[0]) && device.done(ends[1])) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  const NcclApi& api = fake_nccl();
  HostDevice device{HostStream::Kind::queued};
  kernels::Event ends[2] = {device.make_event(), device.make_event()};
  kernels::Stream streams[2];
  NcclApi::Comm* comms[2] = {};
  Matrix leaving[2] = {filled(DType::f32, 0, 1, 4), filled(DType::f32, 1, 1, 4)};
  Matrix arriving[2] = {Matrix(DType::f32, 1, 4), Matrix(DType::f32, 1, 4)};
};

TEST_CASE("fake nccl: a send and a receive of one group pass each other") {
  Pair pair;
  pair.exchange(true);
  REQUIRE(pair.ends_within(10s));
  CHECK(pair.arriving[0].memory() == pair.leaving[1].memory());
  CHECK(pair.arriving[1].memory() == pair.leaving[0].memory());
  CHECK(standing_still() == "");
}

TEST_CASE("fake nccl: sends without a group block the receives behind them") {
  Pair pair;
  pair.exchange(true);
  REQUIRE(pair.ends_within(10s));
  pair.exchange(false);
  CHECK_FALSE(pair.ends_within(100ms));
  const std::string still = standing_still();
  CHECK(still.find("rank 0 sends 4 f32 to rank 1") != std::string::npos);
  CHECK(still.find("rank 1 sends 4 f32 to rank 0") != std::string::npos);
  CHECK(still.find("receives") == std::string::npos);
}

TEST_CASE("fake nccl: an operation reaches its stream only when it was asked for") {
  Pair pair;
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(pair.api.group_start() == Result::success);
    CHECK(pair.send(rank, pair.leaving[rank]) == Result::success);
    CHECK(pair.receive(rank, pair.arriving[rank]) == Result::success);
    CHECK(pair.api.group_end() == Result::in_progress);
  }
  CHECK(pair.send(0, pair.leaving[0]) == Result::invalid_usage);
  CHECK(pair.ends_within(10s));
  CHECK(std::isnan(pair.arriving[0].at(0, 0)));
}

/// Two chunks of the model on each of two stages: stage 0 sends two micro-batches before it
/// receives the first one back, and stage 1 sends that back before it receives the second.
void go_round(const DeviceRank& r) {
  Matrix first(DType::f32, 1, 8), second(DType::f32, 1, 8), back(DType::f32, 1, 8);
  const Message send_first[] = {send_to(1, first.tensor())};
  const Message send_second[] = {send_to(1, second.tensor())};
  const Message receive_back[] = {receive_from(1, back.tensor())};
  const Message receive_first[] = {receive_from(0, first.tensor())};
  const Message receive_second[] = {receive_from(0, second.tensor())};
  const Message send_back[] = {send_to(0, back.tensor())};
  std::vector<Work> works;
  if (r.rank == 0) {
    works.push_back(r.group.exchange(send_first));
    works.push_back(r.group.exchange(send_second));
    works.push_back(r.group.exchange(receive_back));
  } else {
    works.push_back(r.group.exchange(receive_first));
    works.push_back(r.group.exchange(send_back));
    works.push_back(r.group.exchange(receive_second));
  }
  for (Work& work : works) work.wait();
  synchronize(r.device);
  r.nccl->monitor().check();
}

TEST_CASE("nccl: a pipeline that goes round needs a lane for each pair of neighbours") {
  CHECK(on_devices({.size = 2, .lanes = NcclLanes::to_next}, go_round) == "");
  CHECK(on_devices({.size = 2, .lanes = NcclLanes::to_previous}, go_round) == "");
  const auto failed = on_devices({.size = 2, .deadline = 300ms}, go_round);
  CHECK(failed.find("exchange of group \"cp\" over NCCL") != std::string::npos);
}

}  // namespace
}  // namespace cpplan::comm::test
