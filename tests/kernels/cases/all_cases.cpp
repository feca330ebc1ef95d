#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& cases : {gemm_cases(), norm_cases(), rope_cases(), attention_cases(),
                            activation_cases(), dropout_cases(), embedding_cases(),
                            cross_entropy_cases(), optimizer_cases(), elementwise_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

}  // namespace cpplan::kernels::test
