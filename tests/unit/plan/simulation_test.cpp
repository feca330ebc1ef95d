#include "plan/simulation.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "plan/model_flops.hpp"
#include "plan/simulated_world.hpp"
#include "plan/step_time.hpp"
#include "plan/transfer_time.hpp"
#include "published_jobs.hpp"

namespace cpplan::plan::test {
namespace {
using cluster::Curve;
using cluster::HardwareProfile;
using kernels::Cost;

/// One FLOP a second; a message takes no time, or one second a byte.
HardwareProfile slow_machine(double bytes_per_second) {
  HardwareProfile machine;
  machine.name = "slow";
  machine.devices_per_node = 1000;
  machine.flops_per_second = {{cluster::Precision::bf16, 1}, {cluster::Precision::fp32, 1}};
  machine.node.message = Curve::line(0, bytes_per_second);
  return machine;
}
constexpr double at_once = 1e30;

/// Ranks of one group of two, under construction.
struct Pair {
  std::vector<SimulatedRank> ranks{2};
  std::vector<int> ids{0, 0};

  Pair() {
    for (int rank : {0, 1})
      ranks[static_cast<std::size_t>(rank)].groups[0] = {
          .id = 0, .members = {0, 1}, .participants = {0, 1}, .same_node = {true, true}};
  }
  engine::StepTrace& trace(int rank) { return ranks[static_cast<std::size_t>(rank)].trace; }
  void compute(int rank, Index flops) { trace(rank).compute("gemm", Cost{{flops}, {}, {}}); }
  int exchange(int rank, Bytes sent, Bytes received) {
    const kernels::Route route{1 - rank, sent, received};
    return start(rank, "exchange", sent, {&route, 1});
  }
  int all_gather(int rank, Bytes sent) { return start(rank, "all_gather", sent, {}); }
  void wait(int rank, int id) { trace(rank).wait("cp", id); }

  int start(int rank, std::string_view collective, Bytes sent,
            std::span<const kernels::Route> routes) {
    const int id = ids[static_cast<std::size_t>(rank)]++;
    trace(rank).start({id, "cp", collective, rank, 2, sent, routes, 0});
    return id;
  }
};

engine::Job plain_job(layout::ParallelDims dims, int micro_batches, int chunks = 1) {
  engine::Job job = job_of({64, 12, 8, 4, 96, 64}, dims, 64 * dims.cp, micro_batches, chunks);
  job.data_parallel = {};
  return job;
}

}  // namespace

TEST_CASE("simulation: a transfer beside compute is exposed only for what compute leaves") {
  Pair pair;
  for (const int rank : {0, 1}) {
    const int id = pair.exchange(rank, {10}, {10});
    pair.compute(rank, 7);
    pair.wait(rank, id);
  }
  const auto times = simulate(pair.ranks, slow_machine(1), {});
  for (const auto& time : times) {
    CHECK(time.end == doctest::Approx(10));
    CHECK(time.compute == doctest::Approx(7));
    CHECK(time.transfer.at("cp") == doctest::Approx(3));
  }
}

TEST_CASE("simulation: a rank that moves its bytes itself does so when it waits") {
  Pair pair;
  for (const int rank : {0, 1}) {
    const int id = pair.exchange(rank, {10}, {10});
    pair.compute(rank, 7);
    pair.wait(rank, id);
  }
  auto machine = slow_machine(1);
  machine.transfers = cluster::Transfers::by_the_rank;
  CHECK(simulate(pair.ranks, machine, {})[0].end == doctest::Approx(17));
}

TEST_CASE("simulation: who comes first waits for the other") {
  Pair pair;
  pair.compute(0, 2);
  pair.compute(1, 9);
  for (const int rank : {0, 1}) pair.wait(rank, pair.all_gather(rank, {4}));
  const auto times = simulate(pair.ranks, slow_machine(1), {});
  CHECK(times[0].end == doctest::Approx(13));
  CHECK(times[0].waiting.at("cp") == doctest::Approx(7));
  CHECK(times[0].transfer.at("cp") == doctest::Approx(4));
  CHECK(times[1].waiting.at("cp") == doctest::Approx(0));
}

TEST_CASE("simulation: transfers of a rank on one communicator follow each other") {
  Pair pair;
  for (const int rank : {0, 1}) {
    const int first = pair.exchange(rank, {10}, {10}), second = pair.exchange(rank, {5}, {5});
    pair.wait(rank, second);
    pair.wait(rank, first);
  }
  CHECK(simulate(pair.ranks, slow_machine(1), {})[1].end == doctest::Approx(15));
}

TEST_CASE("simulation: more ranks than cores take turns") {
  Pair pair;
  for (const int rank : {0, 1})
    for (int i = 0; i < 3; ++i) pair.compute(rank, 5);
  auto machine = slow_machine(1);
  machine.cores = 1;
  const auto times = simulate(pair.ranks, machine, {});
  CHECK(std::max(times[0].end, times[1].end) == doctest::Approx(30));
  machine.cores = 2;
  CHECK(simulate(pair.ranks, machine, {})[0].end == doctest::Approx(15));
}

TEST_CASE("simulation: collectives take the steps of a ring or less") {
  auto machine = slow_machine(1);
  machine.node.message = Curve::line(2, 1);  // 2 s a message
  const SimulatedGroup four{.members = {0, 0, 0, 0}, .participants = {0}, .same_node = {}};
  CHECK(collective_seconds(machine, "all_gather", {30}, four) == doctest::Approx(3 * (2 + 10)));
  CHECK(collective_seconds(machine, "reduce_scatter", {30}, four) == doctest::Approx(36));
  machine.transfers = cluster::Transfers::by_the_rank;
  CHECK(collective_seconds(machine, "all_reduce", {60}, four) == doctest::Approx(6 * (2 + 10)));
  machine.transfers = cluster::Transfers::beside_compute;
  SimulatedGroup many;
  many.members.assign(1024, 0);
  CHECK(collective_seconds(machine, "all_reduce", {2046}, many) ==
        doctest::Approx(2 * 10 * 2 + 2 * 1024));  // a ring takes 2046 * 3
}

TEST_CASE("simulation: a ring that leaves the node has as many ways out as ranks there") {
  auto machine = slow_machine(100);
  machine.network = cluster::Link{.message = Curve::line(0, 1), .sum = {}};
  SimulatedGroup group{.members = {0, 0, 0, 0}, .participants = {0}, .same_node = {}};
  group.one_node = false;
  CHECK(collective_seconds(machine, "all_gather", {30}, group) == doctest::Approx(30));
  group.members_of_node = 2;
  CHECK(collective_seconds(machine, "all_gather", {30}, group) == doctest::Approx(15));
}

TEST_CASE("simulation: 1F1B has the bubble of its formula where stages are alike") {
  for (const int stages : {2, 3, 4})
    for (const int micro_batches : {1, 4, 9}) {
      engine::Job job = plain_job({1, 1, stages, 1}, micro_batches);
      job.model.vocab_size = 1;  // the head and the embedding weigh next to nothing
      const auto time = predict_step(job, engine::dense_documents(job), slow_machine(at_once));
      REQUIRE(time);
      const double ideal = (stages - 1.0) / (micro_batches + stages - 1.0);
      CHECK(time->bubble_seconds / time->seconds == doctest::Approx(ideal).epsilon(0.05));
    }
}

TEST_CASE("simulation: chunks divide the bubble") {
  const int stages = 4, micro_batches = 8, chunks = 3;
  engine::Job job = plain_job({1, 1, stages, 1}, micro_batches, chunks);
  job.model.vocab_size = 1;
  const auto time = predict_step(job, engine::dense_documents(job), slow_machine(at_once));
  REQUIRE(time);
  const double ideal = (stages - 1.0) / (chunks * micro_batches + stages - 1.0);
  CHECK(time->bubble_seconds / time->seconds == doctest::Approx(ideal).epsilon(0.1));
  job.dims.pp = 2, job.stage_layers.assign(6, 2);  // both ways between two ranks at once
  CHECK(predict_step(job, engine::dense_documents(job), slow_machine(1e6)).has_value());
}

TEST_CASE("simulation: contiguous context parallelism waits for its last rank") {
  engine::Job job = plain_job({1, 4, 1, 1}, 2);
  job.capacity = 4096;
  const auto even = predict_step(job, engine::dense_documents(job), slow_machine(at_once));
  job.context_parallel.split = layout::Split::contiguous;
  const auto uneven = predict_step(job, engine::dense_documents(job), slow_machine(at_once));
  REQUIRE(even);
  REQUIRE(uneven);
  CHECK(even->imbalance_seconds < 1e-3 * even->seconds);
  CHECK(uneven->imbalance_seconds > 0.1 * uneven->seconds);
  CHECK(uneven->executed_flops == doctest::Approx(even->executed_flops).epsilon(0.01));
}

TEST_CASE("simulation: the parts of a step add up to it") {
  for (const auto dims : {layout::ParallelDims{2, 2, 2, 2, true}, {1, 3, 1, 1}, {1, 1, 4, 2}}) {
    const engine::Job job = plain_job(dims, 5);
    const auto time = predict_step(job, engine::dense_documents(job), slow_machine(1e4));
    REQUIRE(time);
    CHECK(time->compute_seconds + time->bubble_seconds + time->imbalance_seconds +
              time->exposed_seconds ==
          doctest::Approx(time->seconds));
  }
}

TEST_CASE("simulation: many micro-batches are reckoned from a few") {
  engine::Job job = plain_job({1, 1, 3, 1}, 40);
  const auto documents = engine::dense_documents(job);
  const auto machine = slow_machine(1e5);
  const auto reckoned = predict_step(job, documents, machine);
  const auto ranks = simulated_ranks(job, documents, machine);
  REQUIRE(ranks);
  double end = 0, flops = 0;
  for (const auto& time : simulate(*ranks, machine, {})) end = std::max(end, time.end);
  for (const auto& rank : *ranks) flops += static_cast<double>(rank.trace.flops().count);
  CHECK(reckoned->seconds == doctest::Approx(end).epsilon(1e-6));
  CHECK(reckoned->executed_flops == doctest::Approx(flops));
}

TEST_CASE("simulation: one rank stands for those that do the same") {
  const engine::Job job = plain_job({2, 3, 2, 4, true}, 2);
  auto machine = slow_machine(1e6);
  CHECK(simulated_ranks(job, engine::dense_documents(job), machine)->size() == 2);
  CHECK(simulated_ranks(job, {{100, 0}}, machine)->size() == 6);  // the CP ranks differ
  machine.cores = 2;
  CHECK(simulated_ranks(job, engine::dense_documents(job), machine)->size() == 48);
}

TEST_CASE("model FLOPs: six a parameter and token and half of each document's square") {
  const engine::Job job = job_of(llama_70b(80), {8, 1, 1, 1, true}, 8192, 1);
  const double parameters =
      80.0 * (2 * 8192.0 * 8192 + 2 * 8192.0 * 1024 + 3 * 8192.0 * 28672) + 8192.0 * 128256;
  const double attention = 6.0 * 80 * 8192;
  CHECK(model_flops(job, {{8192, 0}}) ==
        doctest::Approx(6 * parameters * 8192 + attention * 8192 * 8192));
  CHECK(model_flops(job, {{4096, 0}, {4096, 0}}) ==
        doctest::Approx(6 * parameters * 8192 + attention * 2 * 4096 * 4096));
}

}  // namespace cpplan::plan::test
