#pragma once
// Attention alone, on CP ranks and on none: the cases, which are all the ways to choose one value
// on each of seven axes, and what comes of one.
#include <array>
#include <map>
#include <string>
#include <vector>

#include "comm/ledger.hpp"
#include "engine/context_parallel.hpp"
#include "engine/job.hpp"
#include "engine/rank_groups.hpp"

namespace cpplan::test {

struct AttentionCase {
  std::string name;  // "cp3 a2a striped causal mqa tail dropout"
  int cp = 1;
  engine::ContextParallelSettings context_parallel;
  kernels::Band band;
  Index heads = 1, kv_heads = 1;
  std::vector<layout::DocumentLength> documents;
  Index tail = 0;  // rows of padding that follow the documents, over all ranks, at least
  double dropout = 0;

  static constexpr Index head_dim = 3;
  engine::CpCommType type() const { return context_parallel.type_of(0); }
  engine::AttentionSettings settings() const;
  /// Ranks that exchange heads.
  int exchanging() const;
  layout::SequenceMap map() const;
};

/// Every case that the engine can run.
std::vector<AttentionCase> all_attention_cases();
/// Fewer cases, in which every three values of three axes still meet wherever some case has them.
std::vector<AttentionCase> covering_attention_cases();

/// Matrices [tokens, heads * head_dim], lse [tokens, heads], tokens in the order of documents.
struct AttentionResult {
  std::vector<double> out, lse, dq, dk, dv;
};
/// q, k, v and dL/dout, of the same shapes.
struct AttentionInput {
  std::vector<double> q, k, v, dout;
};
AttentionInput attention_input(const AttentionCase&);

/// Softmax over all keys of a document, written out with no block, rank or op.
AttentionResult dense_attention(const AttentionCase&, const AttentionInput&);

struct ParallelRun {
  AttentionResult result;
  std::string complaints;                       // failures; padding that is not zero
  std::vector<comm::Ledger> forward, backward;  // what each rank posted
};
/// On in-process ranks in fp64, in memory full of NaN, padding rows of the input among it.
ParallelRun run_attention(const AttentionCase&, const AttentionInput&,
                          const MakeGroups& make_groups = over_threads);

/// What every rank sends, by the closed formulas: ring attention (arXiv 2310.01889), the gather of
/// Llama 3 (arXiv 2407.21783), Ulysses (arXiv 2309.14509) and the two levels of LoongTrain (arXiv
/// 2406.18485). Gradients of keys travel in the accumulator type, which in fp64 is the same.
struct AttentionVolumes {
  comm::Ledger forward, backward;
};
AttentionVolumes attention_volumes(const AttentionCase&);

/// max |a - b| / max |b|; infinite where one is finite and the other is not.
double greatest_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace cpplan::test
