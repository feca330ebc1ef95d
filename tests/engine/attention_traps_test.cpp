// Mistakes that implementations of context-parallel attention were published with, each in the
// smallest case that shows it.
#include <limits>

#include "engine/attention_check.hpp"

namespace cpplan::test {
namespace {
using engine::CpCommType;
using layout::Split;

AttentionCase make_case(int cp, engine::ContextParallelSettings settings,
                        std::vector<Index> lengths) {
  AttentionCase c{.cp = cp, .context_parallel = std::move(settings), .band = kernels::causal};
  c.name = "cp" + std::to_string(cp);
  c.heads = 2 * Index{cp}, c.kv_heads = cp;
  for (const Index length : lengths) c.documents.push_back({length, 0});
  return c;
}

void check_every_way(AttentionCase c) {
  for (const CpCommType type : {CpCommType::p2p, CpCommType::all_gather, CpCommType::a2a}) {
    for (const Split split : {Split::head_tail, Split::contiguous, Split::striped}) {
      c.context_parallel = {split, {type}};
      c.name = "type " + std::to_string(static_cast<int>(type)) + " split " +
               std::to_string(static_cast<int>(split));
      check_attention(c);
    }
  }
}

}  // namespace

TEST_CASE("attention traps: a window counts positions of the sequence and not of the block") {
  AttentionCase c = make_case(4, {}, {64});
  for (const Index width : {1, 5, 8, 9, 40}) {
    c.band = kernels::sliding_window(width);
    check_every_way(c);
  }
}

TEST_CASE("attention traps: padding neither sees nor is seen") {
  for (const int cp : {2, 4}) {
    AttentionCase c = make_case(cp, {}, {3, 5, 1});
    c.tail = 7;
    check_every_way(c);
  }
}

TEST_CASE("attention traps: the ring backward passes every key on and not the first again") {
  for (const int cp : {3, 5}) check_attention(make_case(cp, {}, {41}));
}

TEST_CASE("attention traps: a ring step without any key for a row leaves it as it is") {
  AttentionCase c = make_case(8, {}, {9, 40, 2});
  c.band = kernels::sliding_window(3);
  check_every_way(c);
}

TEST_CASE("attention traps: a row that sees no key at all is zero with lse minus infinity") {
  AttentionCase c = make_case(3, {}, {1, 8});
  c.band = {kernels::Band::unbounded, -1};  // the first token of a document sees nothing
  check_every_way(c);
  const AttentionResult dense = dense_attention(c, attention_input(c));
  CHECK(dense.lse.front() == -std::numeric_limits<double>::infinity());
}

TEST_CASE("attention traps: ranks that share a KV head sum its gradients") {
  AttentionCase c = make_case(4, {Split::head_tail, {CpCommType::a2a}}, {37});
  for (const Index kv_heads : {1, 2}) {
    c.kv_heads = kv_heads;
    check_attention(c);
  }
}

TEST_CASE("attention traps: two levels keep the order of the ring apart from that of neighbours") {
  for (const auto& [cp, inner] : {std::pair{4, 2}, {8, 4}, {8, 2}, {6, 3}})
    check_attention(make_case(cp, {Split::head_tail, {CpCommType::a2a_p2p}, inner}, {19, 0, 50}));
}

}  // namespace cpplan::test
