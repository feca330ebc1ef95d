#include "engine/experiment.hpp"

#include <cmath>
#include <mutex>

#include "comm/rank_runner.hpp"
#include "comm/threads.hpp"
#include "engine/ledger_difference.hpp"

namespace cpplan::test {
namespace {
using layout::Dim;

/// The values of a tensor, from wherever its backend keeps them.
std::vector<double> values_of(const kernels::Tensor& t, kernels::Ops& ops) {
  const auto read = [&]<class T>(T) {
    std::vector<T> host(static_cast<std::size_t>(t.elements()));
    ops(kernels::Download{t, host.data()});
    return std::vector<double>(host.begin(), host.end());
  };
  return t.dtype == kernels::DType::f64 ? read(double{}) : read(float{});
}

/// Copies what a rank owns of a shard to its place in the whole tensor.
void place(const engine::Parameter& p, std::span<const double> owned, double scale,
           Tensors& whole) {
  auto& tensor = whole[p.shard.name];
  tensor.resize(static_cast<std::size_t>(p.shard.rows * p.shard.cols));
  for (Index i = 0; i < p.owned.count; ++i) {
    const Index row = (p.owned.first + i) / p.shard.col_count;
    const Index col = (p.owned.first + i) % p.shard.col_count;
    if (row < p.shard.valid_rows()) tensor[p.shard.element(row, col)] = scale * owned[i];
  }
}

enum class Which { value, gradient };
Tensors shards(const engine::Trainer& trainer, kernels::Ops& ops, Which which, double scale = 1.0) {
  Tensors out;
  for (const auto& p : trainer.parameters()) {
    if (!p.first_replica) continue;
    const auto& owned = which == Which::value ? p.master : p.grad;
    place(p, values_of(owned, ops), scale, out);
  }
  return out;
}

/// Shards are disjoint and zero elsewhere, so that whole tensors are their sums.
void merge(const Tensors& shards, Tensors& whole) {
  for (const auto& [name, shard] : shards) {
    auto& tensor = whole[name];
    tensor.resize(shard.size());
    for (std::size_t i = 0; i < shard.size(); ++i) tensor[i] += shard[i];
  }
}

double norm(const std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(squares);
}

}  // namespace

RankReport train_rank(const Experiment& e, const engine::Job& job, int rank,
                      const comm::GroupSet& set, const BackendFactory& make_backend) {
  const auto at = layout::Ranks(job.dims, job.order).coordinates(rank);
  kernels::NoTrace trace;
  RankReport report{.plan = engine::meta_run(job, at)};
  const auto backend = make_backend(trace);
  const engine::Groups groups = engine::groups_of(set);
  engine::Trainer trainer(*backend, groups, job, at, report.plan.memory);
  report.initial_weights = shards(trainer, *backend, Which::value);
  for (Index step = 1; step <= e.steps; ++step) {
    const auto source = [&](int m) { return micro_batch(e, step, m, at[Dim::dp]); };
    const auto result = trainer.step(step, learning_rate_at(e, step), source);
    report.losses.push_back(result.loss);
    report.grad_norms.push_back(result.grad_norm);
    const double mean = 1.0 / static_cast<double>(result.tokens);
    if (step == 1) report.gradients = shards(trainer, *backend, Which::gradient, mean);
  }
  report.final_weights = shards(trainer, *backend, Which::value);
  report.peak = trainer.peak();
  return report;
}

std::vector<std::string> broken_promises(const RankReport& report, const comm::Ledger& posted,
                                         int steps) {
  std::vector<std::string> broken;
  for (const auto& [key, traffic] : report.plan.traffic) {
    const auto found = posted.find(key);
    const Index measured = found == posted.end() ? 0 : found->second.bytes.count;
    if (measured != steps * traffic.sent.count) {
      broken.push_back("bytes of " + key.first + " " + key.second);
    }
  }
  for (const auto& [key, counted] : posted) {
    const bool planned = report.plan.traffic.contains(key);
    if (counted.bytes.count > 0 && !planned) {
      broken.push_back("unplanned " + key.first + " " + key.second);
    }
  }
  if (!(report.plan.memory == report.peak)) broken.push_back("memory");
  return broken;
}

Outcome train(const Experiment& e, const BackendFactory& make_backend,
              const MakeGroups& make_groups) {
  const engine::Job job = job_of(e);
  const layout::Ranks ranks(job.dims, job.order);
  comm::ThreadWorld world(ranks.world(), std::chrono::seconds(60));
  Outcome outcome;
  outcome.sent.resize(static_cast<std::size_t>(job.dims.pp));
  std::mutex mutex;
  const auto done = comm::run_ranks(world, [&](int rank) {
    const auto groups = make_groups(world, ranks, rank, engine::group_settings(job));
    const comm::Ledger before = world.endpoint(rank).posted();
    const RankReport report = train_rank(e, job, rank, groups->set, make_backend);
    const comm::Ledger posted_in_steps = difference(world.endpoint(rank).posted(), before);
    std::lock_guard lock(mutex);
    if (rank == 0) outcome.losses = report.losses, outcome.grad_norms = report.grad_norms;
    merge(report.initial_weights, outcome.initial_weights);
    merge(report.final_weights, outcome.final_weights);
    merge(report.gradients, outcome.gradients);
    auto& sent = outcome.sent[ranks.coordinates(rank)[Dim::pp]];
    for (const auto& [key, posted] : posted_in_steps) {
      if (posted.bytes.count > 0) sent[key] += posted.bytes.count;
    }
    for (const auto& what : broken_promises(report, posted_in_steps, e.steps)) {
      outcome.broken_promises.push_back("rank " + std::to_string(rank) + ": " + what);
    }
  });
  if (!done) outcome.failure = done.error().message;
  return outcome;
}

Distance distance(const Tensors& a, const Tensors& b) {
  double all = 0;
  for (const auto& [name, tensor] : b) all += norm(tensor) * norm(tensor);
  all = std::sqrt(all);
  Distance worst;
  for (const auto& [name, expected] : b) {
    std::vector<double> difference = a.at(name);
    for (std::size_t i = 0; i < expected.size(); ++i) difference[i] -= expected[i];
    const double value = norm(difference) / std::max(norm(expected), 1e-3 * all);
    if (!(value <= worst.value)) worst = {value, name};
  }
  return worst;
}

double curve_distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size() || a.empty()) return HUGE_VAL;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]) / std::abs(b[i]));
  }
  return worst;
}

std::string name_of(const Experiment& e) {
  const auto& d = e.dims;
  return "tp" + std::to_string(d.tp) + " cp" + std::to_string(d.cp) + " pp" + std::to_string(d.pp) +
         " dp" + std::to_string(d.dp) + (d.sequence_parallel ? " sp" : "") +
         (e.packing ? " packed" : " padded") + (e.dropout > 0 ? " dropout" : "") + " micro" +
         std::to_string(e.micro_batch_size);
}

}  // namespace cpplan::test
