#pragma once
// One op of each kind and size, on operands of its own.
#include <functional>
#include <string>
#include <vector>

#include "kernels/arena.hpp"
#include "kernels/backend.hpp"

namespace cpplan::bench {

/// Runs copy `i` of `copies` of an op; all copies have one cost.
struct OpCase {
  std::string op;
  kernels::Cost cost;
  Index copies = 1;
  std::function<void(Index copy)> run;
};

/// Makes a case in an arena, which it takes its operands from; the arena is cleared between cases.
struct CaseMaker {
  Bytes operands;  // of one copy
  std::function<OpCase(kernels::Ops&, kernels::Arena&, Index copies)> make;
};

std::vector<CaseMaker> op_cases();

}  // namespace cpplan::bench
