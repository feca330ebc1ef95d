#pragma once
// One test case of one op: builds its tensors on whatever backend it is given, runs the op, and
// hands back what the op wrote. All tests of all backends walk the same list, so a new backend is
// tested by naming it, and a new op by adding its file of cases here.
#include <functional>
#include <string>
#include <vector>

#include "kernels/support/session.hpp"

namespace cpplan::kernels::test {

/// How far from the fp64 reference a backend in f32 or bf16 may be on the same numbers, relative to
/// the greatest value of an output, and why that far. An output in bf16 is rounded once more.
struct Tolerance {
  double relative;
  const char* reason;
  double bf16 = relative;  // where its inputs are results that rounding to bf16 may push apart
  double of(const Backend& backend) const { return backend.real == DType::bf16 ? bf16 : relative; }
};

struct Case {
  std::string_view op;
  std::string shape;
  Tolerance tolerance;
  std::function<std::vector<Matrix>(Session&)> run;
};

std::vector<Case> gemm_cases();
std::vector<Case> norm_cases();
std::vector<Case> rope_cases();
std::vector<Case> attention_cases();
std::vector<Case> activation_cases();
std::vector<Case> dropout_cases();
std::vector<Case> embedding_cases();
std::vector<Case> cross_entropy_cases();
std::vector<Case> optimizer_cases();
std::vector<Case> elementwise_cases();

std::vector<Case> all_cases();

}  // namespace cpplan::kernels::test
