// How evenly a split shares the work, in FLOPs that the ops of each rank count.
#include <doctest/doctest.h>

#include <numeric>

#include "engine/attention_case.hpp"
#include "engine/groups.hpp"
#include "engine/parallel_attention.hpp"
#include "kernels/meta/meta_ops.hpp"

namespace cpplan::test {
namespace {
using engine::CpCommType;
using layout::Split;

class AttentionFlops final : public kernels::Trace {
 public:
  void compute(std::string_view op, const kernels::Cost& cost) override {
    if (op == kernels::Attention::name) flops += static_cast<double>(cost.flops.count);
  }
  void start(const kernels::TransferStart&) override {}
  void wait(std::string_view, int) override {}
  double flops = 0;
};

double flops_of(const AttentionCase& c, int rank) {
  AttentionFlops trace;
  const auto ops = kernels::make_meta_ops(trace);
  engine::Job job;
  job.dims.cp = c.cp;
  job.context_parallel = c.context_parallel;
  const auto set = comm::make_meta_groups(layout::Ranks(job.dims), rank, trace,
                                          {.cp_inner = c.context_parallel.inner_size});
  const engine::Groups groups = engine::groups_of(set);
  const auto map = c.map();
  const engine::Batch batch{.map = map};
  constexpr Bytes endless{Index{1} << 40};
  kernels::Arena saved(ops->allocate(endless), endless), scratch(ops->allocate(endless), endless);
  engine::Step step{*ops, groups, batch, saved, scratch, scratch};
  const engine::ParallelAttention attention(
      job, 0, {c.heads, c.kv_heads, AttentionCase::head_dim, kernels::DType::f32});
  engine::ParallelAttention::Saved kept;
  const auto inputs = attention.prepare(step, map.rows(), kept);
  attention.forward(step, c.settings(), inputs, kept);
  return trace.flops;
}

/// Work of the busiest rank over that of the mean.
double imbalance(const AttentionCase& c) {
  double sum = 0, greatest = 0;
  for (int rank = 0; rank < c.cp; ++rank) {
    const double flops = flops_of(c, rank);
    sum += flops, greatest = std::max(greatest, flops);
  }
  return greatest * c.cp / sum;
}

AttentionCase causal(int cp, Split split, CpCommType type, std::vector<Index> lengths) {
  AttentionCase c{.cp = cp, .context_parallel = {split, {type}}, .band = kernels::causal};
  for (const Index length : lengths) c.documents.push_back({length, 0});
  return c;
}

}  // namespace

TEST_CASE("attention work: head-tail shares causal attention evenly") {
  for (const CpCommType type : {CpCommType::p2p, CpCommType::all_gather}) {
    for (const int cp : {2, 3, 4, 5, 8, 16}) {
      CAPTURE(cp);
      const Index hundred = 100 * cp;
      CHECK(imbalance(causal(cp, Split::head_tail, type, {64 * cp})) <= 1 + 1e-12);
      CHECK(imbalance(causal(cp, Split::head_tail, type,
                             {hundred, hundred + 1, 2 * hundred + 7, hundred + 13})) <= 1.05);
    }
  }
}

TEST_CASE("attention work: contiguous gives the last rank two shares less one over CP") {
  for (const int cp : {2, 3, 4, 8}) {
    const double measured = imbalance(causal(cp, Split::contiguous, CpCommType::p2p, {512 * cp}));
    CHECK(measured == doctest::Approx(2 - 1.0 / cp).epsilon(1e-2));
  }
}

TEST_CASE("attention work: documents of a few tokens land on few ranks") {
  CHECK(imbalance(causal(4, Split::head_tail, CpCommType::p2p, {1, 1, 1})) == 4);
  const auto fours = causal(8, Split::head_tail, CpCommType::p2p, {4, 4, 4, 4});
  CHECK(imbalance(fours) == doctest::Approx(8 * 4 / 10.0));  // four rows of 1 + 2 + 3 + 4 pairs
}

}  // namespace cpplan::test
