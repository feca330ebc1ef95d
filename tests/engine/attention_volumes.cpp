#include "engine/attention_case.hpp"

namespace cpplan::test {
namespace {
using engine::CpCommType;

constexpr Index element = 8;  // bytes of fp64

void add(comm::Ledger& ledger, const char* group, const char* collective, Index bytes,
         Index messages) {
  if (messages == 0) return;
  comm::Posted& entry = ledger[{group, collective}];
  entry.bytes += Bytes{bytes};
  entry.messages += messages;
}

/// Heads for tokens and back: every rank keeps 1/n of q, k, v and out. KV heads that are fewer than
/// the ranks travel once to each.
void add_exchange(AttentionVolumes& v, const char* group, const AttentionCase& c, Index rows) {
  const Index n = c.exchanging();
  const Index heads = c.heads / n, kv_heads = std::max<Index>(1, c.kv_heads / n);
  const Index bytes = (n - 1) * rows * (2 * heads + 2 * kv_heads) * c.head_dim * element;
  for (comm::Ledger* pass : {&v.forward, &v.backward})
    add(*pass, group, "exchange", bytes, 4 * (n - 1));
}

/// KV goes round twice, its gradient once more and all the way home.
void add_ring(AttentionVolumes& v, const char* group, Index ranks, Index kv) {
  add(v.forward, group, "exchange", (ranks - 1) * kv, ranks - 1);
  if (ranks > 1) add(v.backward, group, "exchange", (2 * ranks - 1) * kv, 2 * ranks - 1);
}

void add_gather(AttentionVolumes& v, Index ranks, Index kv) {
  add(v.forward, "cp", "all_gather", (ranks - 1) * kv, ranks - 1);
  add(v.backward, "cp", "all_gather", (ranks - 1) * kv, ranks - 1);
  add(v.backward, "cp", "reduce_scatter", (ranks - 1) * kv, ranks - 1);
}

}  // namespace

AttentionVolumes attention_volumes(const AttentionCase& c) {
  AttentionVolumes v;
  const Index rows = c.map().rows(), n = c.exchanging();
  const Index kv = n * rows * 2 * std::max<Index>(1, c.kv_heads / n) * c.head_dim * element;
  switch (c.type()) {
    case CpCommType::p2p:
      add_ring(v, "cp", c.cp, kv);
      break;
    case CpCommType::all_gather:
      add_gather(v, c.cp, kv);
      break;
    case CpCommType::a2a:
      add_exchange(v, "cp", c, rows);
      break;
    case CpCommType::a2a_p2p:
      add_exchange(v, "cp_inner", c, rows);
      add_ring(v, "cp_outer", c.cp / n, kv);
  }
  return v;
}

}  // namespace cpplan::test
