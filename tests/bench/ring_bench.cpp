// What a ring costs beyond its blocks: two ranks on a core each, forward and backward of one
// layer's attention, against the same blocks on the same cores without a message. The two take
// turns in one run, and the fastest of each is compared, so that a busy machine does less harm.
//   bench_ring [repetitions]                 ranks as threads
//   mpirun -n 2 bench_ring [repetitions]     ranks as processes
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "comm/rank_runner.hpp"
#include "engine/groups.hpp"
#include "engine/ring_attention.hpp"
#include "kernels/cpu/cpu_ops.hpp"

namespace cpplan::test {
namespace {
using engine::AttentionGradients;
using engine::AttentionTensors;
using kernels::DType;
using kernels::Tensor;

constexpr int ranks = 2;
constexpr Index heads = 8, head_dim = 64;
constexpr std::array<Index, 2> lengths = {1024, 4096};  // tokens of the causal sequence

engine::Job job() {
  engine::Job job;
  job.dims.cp = ranks;
  return job;
}

layout::SequenceMap causal_sequence(Index tokens) {
  const layout::DocumentLength whole{tokens, 0};
  return layout::SequenceMap::padded(layout::Split::head_tail, ranks, {&whole, 1});
}

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of a busy machine the processor time says more: what a ring costs but for waiting.
struct Times {
  double wall = HUGE_VAL, cpu = HUGE_VAL;
  void keep_least(const Times& other) {
    wall = std::min(wall, other.wall), cpu = std::min(cpu, other.cpu);
  }
};

/// One rank's attention: over the ring, and its blocks alone.
class Rank {
 public:
  Rank(Index tokens, comm::Endpoint& endpoint, const comm::GroupSet& set, kernels::Trace& trace)
      : groups_(engine::groups_of(set)),
        ops_(kernels::make_cpu_ops(trace)),
        map_(causal_sequence(tokens)) {
    kernels::set_progress(*ops_, [&endpoint] { endpoint.progress(); });
    constexpr Bytes room{Index{1} << 28};
    arena_ = {ops_->allocate(room), room};
    const auto make = [&](Index cols) { return arena_.make(DType::f32, map_.rows(), cols); };
    constexpr Index width = heads * head_dim;
    tensors_ = {make(width), make(2 * width), make(width), make(heads)};
    gradients_ = {make(width), make(width), make(2 * width)};
    for (const Tensor& t : {tensors_.q, tensors_.kv, gradients_.dout})
      (*ops_)(kernels::Normal{.x = t, .global_cols = t.cols, .valid_rows = t.rows});
  }

  void ring() {
    const engine::RingAttention attention;
    const engine::SplitSequence sequence{map_, &groups_.cp};
    attention.forward(step_, sequence, settings_, tensors_);
    attention.backward(step_, sequence, settings_, tensors_, gradients_);
  }

  void blocks_alone() {
    engine::clear(step_, tensors_);
    for (int hop = 0; hop < ranks; ++hop)
      engine::attend(step_, settings_, tensors_, tensors_.kv, blocks(hop));
    for (const Tensor& t : {gradients_.dq, gradients_.dkv}) step_.ops(kernels::Fill{t, 0.0});
    for (int hop = 0; hop < ranks; ++hop)
      engine::attend_backward(step_, settings_, tensors_, gradients_, tensors_.kv, gradients_.dkv,
                              blocks(hop));
  }

  /// All ranks begin together; the slowest counts.
  Times times(void (Rank::*body)()) {
    std::array<double, 2> elapsed{};
    const Tensor shared{reinterpret_cast<std::byte*>(elapsed.data()), 1, 2, 2, DType::f64};
    groups_.world.all_reduce(shared).wait();
    const double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    (this->*body)();
    elapsed = {seconds_of(CLOCK_MONOTONIC) - wall, seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu};
    groups_.world.all_reduce(shared, comm::Reduce::max).wait();
    return {elapsed[0], elapsed[1]};
  }

 private:
  std::vector<kernels::Block> blocks(int hop) const {
    const int rank = groups_.cp.rank();
    return map_.blocks(rank, layout::owner_at(rank, hop, ranks), settings_.band);
  }

  engine::Groups groups_;
  std::unique_ptr<kernels::Ops> ops_;
  kernels::Arena arena_;
  const layout::SequenceMap map_;
  const engine::Batch batch_{.map = map_};
  engine::Step step_{*ops_, groups_, batch_, arena_, arena_, arena_};
  const engine::AttentionSettings settings_{.head_dim = head_dim, .scale = 0.125};
  AttentionTensors tensors_;
  AttentionGradients gradients_;
};

void measure(comm::Endpoint& endpoint, const comm::GroupSet& set, kernels::Trace& trace,
             int repetitions) {
  for (const Index tokens : lengths) {
    Rank rank(tokens, endpoint, set, trace);
    Times ring, alone;
    for (int i = 0; i < repetitions; ++i) {
      alone.keep_least(rank.times(&Rank::blocks_alone));
      ring.keep_least(rank.times(&Rank::ring));
    }
    if (set.world->rank() == 0)
      std::printf(
          "%5d tokens: ring %.4f s, its blocks alone %.4f s, ratio %.3f; of processor time %.3f\n",
          static_cast<int>(tokens), ring.wall, alone.wall, ring.wall / alone.wall,
          ring.cpu / alone.cpu);
  }
}

void run_as_threads(int repetitions) {
  comm::ThreadWorld world(ranks, std::chrono::seconds(300));
  const auto done = comm::run_ranks(world, [&](int rank) {
    kernels::NoTrace trace;
    const auto set = comm::make_thread_groups(world, layout::Ranks(job().dims), rank, trace);
    measure(world.endpoint(rank), set, trace, repetitions);
  });
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
}

void run_over_mpi(int repetitions) {
  comm::Watchdog watchdog([](const std::string&, std::chrono::milliseconds) {});
  comm::MpiWorld world(watchdog);
  kernels::NoTrace trace;
  const auto set = comm::make_mpi_groups(world, layout::Ranks(job().dims), trace);
  measure(world.endpoint(), set, trace, repetitions);
}

}  // namespace
}  // namespace cpplan::test

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 10;
  const bool processes = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  (processes ? cpplan::test::run_over_mpi : cpplan::test::run_as_threads)(repetitions);
}
