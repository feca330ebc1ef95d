#pragma once
// What must hold of every case.
#include <doctest/doctest.h>

#include "engine/attention_case.hpp"

namespace cpplan::test {

inline void check_attention(const AttentionCase& c, const MakeGroups& make_groups = over_threads) {
  CAPTURE(c.name);
  const AttentionInput input = attention_input(c);
  const AttentionResult dense = dense_attention(c, input);
  const ParallelRun run = run_attention(c, input, make_groups);
  CHECK(run.complaints == "");
  CHECK(greatest_difference(run.result.out, dense.out) <= 1e-12);
  CHECK(greatest_difference(run.result.lse, dense.lse) <= 1e-12);
  CHECK(greatest_difference(run.result.dq, dense.dq) <= 1e-12);
  CHECK(greatest_difference(run.result.dk, dense.dk) <= 1e-12);
  CHECK(greatest_difference(run.result.dv, dense.dv) <= 1e-12);
  const AttentionVolumes volumes = attention_volumes(c);
  for (const comm::Ledger& posted : run.forward) CHECK(bool(posted == volumes.forward));
  for (const comm::Ledger& posted : run.backward) CHECK(bool(posted == volumes.backward));
}

}  // namespace cpplan::test
