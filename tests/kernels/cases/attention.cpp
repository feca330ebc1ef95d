#include <array>

#include "kernels/cases/attention_problem.hpp"
#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance forward_tolerance{
    2e-6, "scores up to 10 with an error of a few ulp, then exponentiated"};
constexpr Tolerance backward_tolerance{1e-5,
                                       "sums over the sequence of products of rounded differences; "
                                       "in bf16 an element of out may be its "
                                       "other neighbour, which is 2^-8 |out dout| p |k| scale",
                                       1e-4};

AttentionProblem grouped(AttentionProblem problem, Index heads, Index kv_heads, Index head_dim) {
  problem.heads = heads, problem.kv_heads = kv_heads, problem.head_dim = head_dim;
  return problem;
}

AttentionProblem dropped(AttentionProblem problem, double rate) {
  problem.dropout = {0xFEEDull, 3, 11, rate};
  problem.first_head = 6;
  return problem;
}

/// Documents of 70, 1 and 200 tokens in one row, each padded to a multiple of 8; samples 0 and 1.
AttentionProblem packed() {
  AttentionProblem problem{"packed documents with padding", 288, 288};
  for (const auto& [row, count, sample] :
       {std::array<Index, 3>{0, 70, 0}, {72, 1, 0}, {80, 200, 1}})
    problem.blocks.push_back(block(rows(row, count, 0), rows(row, count, 0), causal, sample));
  return problem;
}

/// A ring step in which later keys come before earlier ones, in several blocks of one query run.
AttentionProblem many_blocks(Band band) {
  AttentionProblem problem{"several blocks", 150, 300};
  problem.band = band;
  const Run q = rows(0, 150, 150);
  problem.blocks = {block(q, rows(130, 170, 130), band), block(q, rows(0, 100, 0), band),
                    block(q, rows(100, 30, 100), band)};
  return problem;
}

/// Every third token, as striped layouts have them: queries 1, 4, ... and keys 2, 5, ...
AttentionProblem striped() {
  AttentionProblem problem{"striped", 90, 90};
  problem.blocks = {block(rows(0, 90, 1, 3), rows(0, 90, 2, 3), causal)};
  return problem;
}

std::vector<AttentionProblem> problems() {
  return {dense("one token", 1, causal),
          dense("no token", 0, causal),
          dense("causal 200", 200, causal),
          dense("bidirectional 131", 131, bidirectional),
          dense("window of 17 in 300", 300, sliding_window(17)),
          dense("band [-5, 9] in 150", 150, {9, 5}),
          grouped(dense("GQA 6/2 causal 77", 77, causal), 6, 2, 16),
          grouped(dense("MQA 4/1 bidirectional 65", 65, bidirectional), 4, 1, 24),
          grouped(dense("head dimension 64", 130, causal), 2, 2, 64),
          grouped(dense("head dimension 5", 40, causal), 3, 1, 5),
          dropped(dense("causal 200 dropout 0.25", 200, causal), 0.25),
          dropped(grouped(packed(), 4, 2, 8), 0.1),
          dropped(striped(), 0.5),
          packed(),
          many_blocks(causal),
          many_blocks(sliding_window(40)),
          striped()};
}

std::vector<Matrix> run_forward(Session& s, const AttentionProblem& problem) {
  const Attention op = make_attention(s, problem, random_inputs(problem));
  s.ops()(op);
  return {s.read(op.out), s.read(op.lse)};
}

std::vector<Matrix> run_backward(Session& s, const AttentionProblem& problem) {
  const AttentionInputs inputs = random_inputs(problem);
  const Attention forward = make_attention(s, problem, inputs);
  s.ops()(forward);
  const AttentionBackward op = make_backward(s, forward, inputs, 0.5);
  s.ops()(op);
  return {s.read(op.dq), s.read(op.dk), s.read(op.dv)};
}

}  // namespace

std::vector<Case> attention_cases() {
  std::vector<Case> cases;
  for (const AttentionProblem& problem : problems()) {
    cases.push_back({Attention::name, problem.name, forward_tolerance,
                     [=](Session& s) { return run_forward(s, problem); }});
    cases.push_back({AttentionBackward::name, problem.name, backward_tolerance,
                     [=](Session& s) { return run_backward(s, problem); }});
  }
  return cases;
}

}  // namespace cpplan::kernels::test
