// The attention of one layer on in-process ranks. All memory is NaN until an op writes it, so that
// what is read too early, or from a padding row, cannot go unseen.
#include <cmath>
#include <limits>
#include <mutex>

#include "comm/rank_runner.hpp"
#include "engine/attention_case.hpp"
#include "engine/groups.hpp"
#include "engine/ledger_difference.hpp"
#include "engine/parallel_attention.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {
using engine::ParallelAttention;
using kernels::Tensor;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A block of memory that can be filled with NaN again.
class PoisonedArena {
 public:
  explicit PoisonedArena(kernels::Ops& ops) : base_(ops.allocate(size)), arena_(base_, size) {
    poison();
  }
  void poison() { std::fill_n(reinterpret_cast<double*>(base_), size.count / 8, nan); }
  kernels::Arena& arena() { return arena_; }

 private:
  static constexpr Bytes size{Index{1} << 20};
  std::byte* base_;
  kernels::Arena arena_;
};

/// Where the rows of a rank stand in matrices of all tokens; padding stands nowhere.
class Rows {
 public:
  Rows(const layout::SequenceMap& map, int rank) {
    std::vector<Index> first{0};
    for (const auto& document : map.documents()) first.push_back(first.back() + document.valid);
    for (Index row = 0; row < map.rows(); ++row) {
      const layout::Token token = map.at(rank, row);
      tokens_.push_back(token.index < 0 ? padding : first[token.document] + token.position);
    }
  }

  /// Padding rows become NaN.
  void scatter(const std::vector<double>& from, Index width, Tensor to) const {
    for (Index row = 0; row < to.rows; ++row)
      for (Index j = 0; j < width; ++j)
        to.row<double>(row)[j] = tokens_[row] == padding ? nan : from[tokens_[row] * width + j];
  }

  /// Columns of `from` become columns first_column ... of matrices `width` wide. False where a
  /// padding row holds anything but `in_padding`.
  bool gather(Tensor from, Index first_column, Index width, std::vector<double>& to,
              double in_padding = 0) const {
    bool clean = true;
    for (Index row = 0; row < from.rows; ++row) {
      for (Index j = 0; j < from.cols; ++j) {
        const double value = from.row<double>(row)[j];
        if (tokens_[row] == padding)
          clean = clean && value == in_padding;
        else
          to[tokens_[row] * width + first_column + j] = value;
      }
    }
    return clean;
  }

 private:
  static constexpr Index padding = -1;
  std::vector<Index> tokens_;
};

/// One rank, from its rows of the input to its rows of the result.
class Rank {
 public:
  Rank(const AttentionCase& c, const AttentionInput& input, ParallelRun& run, int number,
       comm::ThreadWorld& world, const MakeGroups& make_groups)
      : c_(c), input_(input), run_(run), number_(number), endpoint_(world.endpoint(number)) {
    engine::Job job;
    job.dims.cp = c.cp;
    job.context_parallel = c.context_parallel;
    groups_ = make_groups(world, layout::Ranks(job.dims), number,
                          {.cp_inner = c.context_parallel.inner_size});
    before_ = endpoint_.posted();
    attention_ = std::make_unique<ParallelAttention>(
        job, 0, engine::AttentionShape{c.heads, c.kv_heads, d, kernels::DType::f64});
  }

  void run() {
    const engine::Groups groups = engine::groups_of(groups_->set);
    const engine::Batch batch{.map = map_};
    engine::Step step{*ops_, groups, batch, saved_.arena(), scratch_.arena(), rebuilt_.arena()};
    ParallelAttention::Saved saved;
    forward(step, saved);
    const comm::Ledger between = endpoint_.posted();
    run_.forward[number_] = difference(between, before_);
    scratch_.poison();
    backward(step, saved);
    run_.backward[number_] = difference(endpoint_.posted(), between);
  }

 private:
  void forward(engine::Step& step, ParallelAttention::Saved& saved) {
    kernels::Arena::Scope scope(step.scratch);
    const auto inputs = attention_->prepare(step, map_.rows(), saved);
    rows_.scatter(input_.q, c_.heads * d, inputs.q);
    rows_.scatter(input_.k, c_.kv_heads * d, engine::keys(inputs.kv));
    rows_.scatter(input_.v, c_.kv_heads * d, engine::values(inputs.kv));
    attention_->forward(step, c_.settings(), inputs, saved);
    keep("out", rows_.gather(saved.out, 0, c_.heads * d, run_.result.out));
    keep("lse", gather_lse(saved.core.lse));
  }

  void backward(engine::Step& step, ParallelAttention::Saved& saved) {
    kernels::Arena::Scope scope(step.scratch);
    const Tensor dout = step.scratch.like(saved.out), dq = step.scratch.like(saved.out);
    const Tensor dkv = step.scratch.make(dq.dtype, dq.rows, 2 * c_.kv_heads * d);
    rows_.scatter(input_.dout, c_.heads * d, dout);
    attention_->backward(step, c_.settings(), dout, {dq, dkv}, saved);
    keep("dq", rows_.gather(dq, 0, c_.heads * d, run_.result.dq));
    keep("dk", rows_.gather(engine::keys(dkv), 0, c_.kv_heads * d, run_.result.dk));
    keep("dv", rows_.gather(engine::values(dkv), 0, c_.kv_heads * d, run_.result.dv));
  }

  /// Where heads are exchanged it is that of all rows of the neighbours, but of some heads.
  bool gather_lse(Tensor lse) {
    const int exchanging = c_.exchanging();
    const Rows rows(map_.merged(exchanging), number_ / exchanging);
    return rows.gather(lse, number_ % exchanging * lse.cols, c_.heads, run_.result.lse, -infinity);
  }

  void keep(const char* what, bool padding_is_clean) {
    if (padding_is_clean) return;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    run_.complaints += "rank " + std::to_string(number_) + ": padding of " + what + "; ";
  }

  static constexpr Index d = AttentionCase::head_dim;
  const AttentionCase& c_;
  const AttentionInput& input_;
  ParallelRun& run_;
  std::size_t number_;
  comm::Endpoint& endpoint_;
  kernels::NoTrace trace_;
  std::unique_ptr<kernels::Ops> ops_ = kernels::make_reference_ops(trace_);
  PoisonedArena saved_{*ops_}, scratch_{*ops_}, rebuilt_{*ops_};
  std::unique_ptr<RankGroups> groups_;
  comm::Ledger before_;  // posted to connect the groups
  std::unique_ptr<ParallelAttention> attention_;
  layout::SequenceMap map_ = c_.map();
  Rows rows_{map_, static_cast<int>(number_)};
};

}  // namespace

ParallelRun run_attention(const AttentionCase& c, const AttentionInput& input,
                          const MakeGroups& make_groups) {
  ParallelRun run;
  run.result = {.out = std::vector<double>(input.q.size(), nan),
                .lse = std::vector<double>(input.q.size() / AttentionCase::head_dim, nan),
                .dq = std::vector<double>(input.q.size(), nan),
                .dk = std::vector<double>(input.k.size(), nan),
                .dv = std::vector<double>(input.k.size(), nan)};
  run.forward.resize(static_cast<std::size_t>(c.cp));
  run.backward.resize(static_cast<std::size_t>(c.cp));
  comm::ThreadWorld world(c.cp, std::chrono::seconds(20));
  const auto done = comm::run_ranks(
      world, [&](int rank) { Rank(c, input, run, rank, world, make_groups).run(); });
  if (!done) run.complaints += done.error().message;
  return run;
}

double greatest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;  // both may be -inf
    const double by = std::abs(a[i] - b[i]);
    if (!std::isfinite(by)) return infinity;
    difference = std::max(difference, by);
  }
  for (const double value : b)
    if (std::isfinite(value)) greatest = std::max(greatest, std::abs(value));
  return greatest == 0 ? difference : difference / greatest;
}

}  // namespace cpplan::test
