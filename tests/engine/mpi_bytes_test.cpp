// The bytes of a plan against those that MPI was handed, counted outside of this program's own
// ledger: by group and collective, for layouts that together use every way to communicate. Started
// by mpirun with 8 ranks.
#include <cstdio>

#include "comm/mpi.hpp"
#include "engine/experiment.hpp"
#include "engine/mpi_counter.hpp"
#include "kernels/reference/reference_ops.hpp"
#include "unit/comm/recorder.hpp"

namespace cpplan::test {
namespace {
using comm::test::Recorder;
using Kind = std::pair<std::string, std::string>;  // group, collective

constexpr int exchange_tag = 0;  // collectives have tags of their own, 1, 2, ...

/// Of the collectives that a communicator has begun, in their order, the names.
std::vector<std::string> collectives_of(const Recorder& trace, int communicator) {
  std::vector<std::string> names;
  for (const auto& start : trace.starts)
    if (start.communicator == communicator && start.size > 1 && start.collective != "exchange")
      names.push_back(start.collective);
  return names;
}

/// What MPI was handed on communicators made from `first` on, under the plan's names.
std::map<Kind, Handed> handed_since(int first, const std::vector<comm::NamedGroup>& groups,
                                    const Recorder& trace) {
  std::map<Kind, Handed> sums;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto collectives = collectives_of(trace, groups[i].number);
    for (const auto& [place, handed] : handed_to_mpi()) {
      const auto& [communicator, tag] = place;
      if (communicator != first + static_cast<int>(i)) continue;
      const std::string collective =
          tag == exchange_tag ? "exchange" : collectives.at(static_cast<std::size_t>(tag - 1));
      Handed& sum = sums[{std::string(groups[i].name), collective}];
      sum.bytes += handed.bytes;
      sum.messages += handed.messages;
    }
  }
  return sums;
}

int complain(const Kind& kind, const Handed& planned, const Handed& handed, int rank) {
  std::fprintf(
      stderr, "FAILED: rank %d, %s of %s: %lld bytes in %lld messages, planned %lld in %lld\n",
      rank, kind.second.c_str(), kind.first.c_str(), static_cast<long long>(handed.bytes.count),
      static_cast<long long>(handed.messages), static_cast<long long>(planned.bytes.count),
      static_cast<long long>(planned.messages));
  return 1;
}

int compare(const engine::Footprint& plan, int steps, std::map<Kind, Handed> handed, int rank) {
  int failures = 0;
  for (const auto& [kind, traffic] : plan.traffic) {
    const Handed planned{steps * traffic.sent, steps * traffic.messages};
    const Handed measured = handed[kind];
    handed.erase(kind);
    if (measured.bytes != planned.bytes || measured.messages != planned.messages)
      failures += complain(kind, planned, measured, rank);
  }
  for (const auto& [kind, measured] : handed) failures += complain(kind, {}, measured, rank);
  return failures;
}

int check_layout(const Experiment& e, comm::MpiWorld& world) {
  const engine::Job job = job_of(e);
  const layout::Ranks ranks(job.dims, job.order);
  const auto settings = engine::group_settings(job);
  Recorder trace;
  const int first = communicators_made();
  const auto set = comm::make_mpi_groups(world, ranks, trace, settings);
  const auto report = train_rank(e, job, world.rank(), set, kernels::make_reference_ops);
  const auto groups = comm::named_groups(ranks, world.rank(), settings);
  return compare(report.plan, e.steps, handed_since(first, groups, trace), world.rank());
}

std::vector<Experiment> layouts() {
  Experiment base;
  base.steps = 2;
  std::vector<Experiment> all(5, base);
  all[0].dims = {2, 2, 2, 1, true};
  all[1].dims = {1, 4, 2, 1, false};
  all[1].virtual_stages = 2;
  all[1].tie_word_embeddings = true;
  all[2].dims = {2, 2, 1, 2, true};
  all[2].context_parallel.layer_types = {engine::CpCommType::a2a};
  all[2].data_parallel.sharding = engine::Sharding::optimizer;
  all[3].dims = {1, 4, 1, 2, false};
  all[3].context_parallel.layer_types = {engine::CpCommType::a2a_p2p};
  all[3].context_parallel.inner_size = 2;
  all[3].recompute = engine::Recompute::full;
  all[4].dims = {1, 2, 1, 4, false};
  all[4].context_parallel.layer_types = {engine::CpCommType::all_gather};
  all[4].data_parallel = {.sharding = engine::Sharding::parameters, .replicate = 2};
  return all;
}

int run() {
  comm::Watchdog watchdog([](const std::string& what, std::chrono::milliseconds) {
    std::fprintf(stderr, "FAILED: %s hangs\n", what.c_str());
  });
  comm::MpiWorld world(watchdog, {.deadline = std::chrono::seconds(120)});
  int failures = 0;
  for (const Experiment& e : layouts()) failures += check_layout(e, world);
  if (world.rank() == 0 && failures == 0) std::puts("ok");
  return failures;
}

}  // namespace
}  // namespace cpplan::test

int main() {
  return cpplan::test::run() == 0 ? 0 : 1;
}
