#include <fmt/format.h>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance exact{0, "values are moved, not computed"};
constexpr Tolerance rounded{6e-8, "one rounding to f32"};
constexpr Tolerance one_sum{1e-7, "one sum"};

std::vector<Matrix> run_fill(Session& s, Index rows, Index cols) {
  const Tensor value = s.poisoned(rows, cols), sum = s.sums(filled(rows, cols, 5));
  const Tensor index = s.indices(filled(rows, cols, 5));
  for (const Tensor& t : {value, sum, index}) s.ops()(Fill{t, -3});
  return {s.read(value), s.read(sum), s.read(index)};
}

std::vector<Matrix> run_copy(Session& s, Index rows, Index cols) {
  const Tensor value = s.values(random_matrix(rows, cols, 1)), to = s.poisoned(rows, cols);
  const Tensor index = s.indices(random_indices(rows, cols, -9, 9, 2));
  const Tensor index_to = s.indices(filled(rows, cols, 0));
  const Tensor wide = s.sums(filled(rows, cols, 0)), back = s.poisoned(rows, cols);
  const Tensor fine = s.accumulated(random_matrix(rows, cols, 3));
  const Tensor coarse = s.poisoned(rows, cols), widened = s.poisoned_accumulator(rows, cols);
  s.ops()(Copy{value, to});
  s.ops()(Copy{index, index_to});
  s.ops()(Copy{value, wide});
  s.ops()(Copy{wide, back});
  s.ops()(Copy{fine, coarse});
  s.ops()(Copy{value, widened});
  return {s.read(to),   s.read(index_to), s.read(wide),
          s.read(back), s.read(coarse),   s.read(widened)};
}

std::vector<Matrix> run_add(Session& s, Index rows, Index cols) {
  const Tensor value = s.values(random_matrix(rows, cols, 1));
  const Tensor sum = s.sums(random_matrix(rows, cols, 2));
  const Tensor fine = s.accumulated(random_matrix(rows, cols, 7));
  const Tensor index = s.indices(random_indices(rows, cols, -9, 9, 3));
  s.ops()(Add{s.values(random_matrix(rows, cols, 4)), value});
  s.ops()(Add{s.sums(random_matrix(rows, cols, 5)), sum});
  s.ops()(Add{s.values(random_matrix(rows, cols, 8)), fine});
  s.ops()(Add{s.indices(random_indices(rows, cols, -9, 9, 6)), index});
  return {s.read(value), s.read(sum), s.read(fine), s.read(index)};
}

std::vector<Matrix> run_normal(Session& s, Index rows, Index cols) {
  const Normal op{s.poisoned(rows, cols), 42, 3, 2, cols + 5, rows + 1, 0.02};
  s.ops()(op);
  return {s.read(op.x)};
}

}  // namespace

std::vector<Case> elementwise_cases() {
  std::vector<Case> cases;
  for (const auto& [r, c] : {std::pair<Index, Index>{1, 1}, {5, 19}, {67, 130}, {0, 8}}) {
    const auto add = [&cases, r = r, c = c](std::string_view op, Tolerance tolerance, auto run) {
      cases.push_back(
          {op, fmt::format("{}x{}", r, c), tolerance, [=](Session& s) { return run(s, r, c); }});
    };
    add(Fill::name, exact, run_fill);
    add(Copy::name, exact, run_copy);
    add(Add::name, one_sum, run_add);
    add(Normal::name, rounded, run_normal);
    add(Upload::name, exact, run_copy);  // every case moves its tensors in and out
    add(Download::name, exact, run_copy);
  }
  return cases;
}

}  // namespace cpplan::kernels::test
