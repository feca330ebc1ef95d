#include <fmt/format.h>

#include <limits>

#include "kernels/cases/case.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr Tolerance exact{0, "a maximum is not rounded"};
constexpr Tolerance tolerance{2e-6, "an exponential of 1 ulp of an argument up to 40"};

/// A shard of the vocabulary: columns first_col ... first_col + valid - 1, then padding.
struct Shape {
  Index rows, cols, valid, first_col;
};

/// What the padding columns hold must not matter.
Matrix logits(Shape shape) {
  Matrix m = scaled(random_matrix(shape.rows, shape.cols, 1), 20);
  for (Index i = 0; i < shape.rows; ++i)
    for (Index j = shape.valid; j < shape.cols; ++j)
      m(i, j) = std::numeric_limits<double>::quiet_NaN();
  return m;
}

/// Labels of this rank and of others, every fifth ignored.
Matrix labels(Shape shape) {
  Matrix m = random_indices(shape.rows, 1, 0, 2 * shape.first_col + shape.cols + 1, 2);
  for (Index i = 0; i < shape.rows; ++i) {
    if (i % 5 == 1) m(i, 0) = -100;
    if (i % 5 == 2) m(i, 0) = static_cast<double>(shape.first_col);
  }
  return m;
}

struct Loss {
  Tensor logits, max, labels, stats;
};

/// Maximum and sum, of which vocabulary shards would take the all-reduce in between.
Loss forward(Session& s, Shape shape) {
  const Loss loss{s.accumulated(logits(shape)), s.poisoned_accumulator(shape.rows, 1),
                  s.indices(labels(shape)), s.poisoned_accumulator(shape.rows, 2)};
  s.ops()(RowMax{loss.logits, loss.max, shape.valid});
  s.ops()(SumExp{loss.logits, loss.max, loss.labels, loss.stats, shape.first_col, shape.valid});
  return loss;
}

std::vector<Matrix> run_row_max(Session& s, Shape shape) {
  const RowMax op{s.accumulated(logits(shape)), s.poisoned_accumulator(shape.rows, 1), shape.valid};
  s.ops()(op);
  return {s.read(op.max)};
}

std::vector<Matrix> run_sum_exp(Session& s, Shape shape) {
  return {s.read(forward(s, shape).stats)};
}

std::vector<Matrix> run_loss_sum(Session& s, Shape shape) {
  const Loss loss = forward(s, shape);
  const Tensor sum = s.sums({1, 2, {3, 4}});
  s.ops()(LossSum{loss.max, loss.stats, loss.labels, sum});
  return {s.read(sum)};
}

std::vector<Matrix> run_backward(Session& s, Shape shape) {
  const Loss loss = forward(s, shape);
  s.ops()(CrossEntropyBackward{loss.logits, loss.max, loss.stats, loss.labels, shape.first_col,
                               shape.valid});
  return {s.read(loss.logits)};
}

}  // namespace

std::vector<Case> cross_entropy_cases() {
  std::vector<Case> cases;
  for (const Shape shape :
       {Shape{1, 1, 1, 0}, {37, 130, 130, 0}, {37, 67, 61, 67}, {11, 300, 1, 600}, {0, 8, 8, 0}}) {
    const std::string text =
        fmt::format("{}x{} valid {} from {}", shape.rows, shape.cols, shape.valid, shape.first_col);
    const auto with = [shape](auto run) { return [=](Session& s) { return run(s, shape); }; };
    cases.push_back({RowMax::name, text, exact, with(run_row_max)});
    cases.push_back({SumExp::name, text, tolerance, with(run_sum_exp)});
    cases.push_back({LossSum::name, text, tolerance, with(run_loss_sum)});
    cases.push_back({CrossEntropyBackward::name, text, tolerance, with(run_backward)});
  }
  cases.push_back({RowMax::name, "no valid column", exact, [](Session& s) {
                     return run_row_max(s, {3, 5, 0, 10});
                   }});
  return cases;
}

}  // namespace cpplan::kernels::test
