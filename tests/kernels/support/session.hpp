#pragma once
// One backend under test: puts host values into tensors and reads them back. Tensors may have a gap
// between their rows, filled with a sentinel that must still be there afterwards.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/support/matrix.hpp"

namespace cpplan::kernels::test {

/// Counts the calls of every op.
class CountingTrace final : public Trace {
 public:
  void compute(std::string_view op, const Cost&) override { ++calls_[std::string(op)]; }
  void start(const TransferStart&) override {}
  void wait(std::string_view, int) override {}
  int calls(std::string_view op) const {
    const auto found = calls_.find(std::string(op));
    return found == calls_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, int> calls_;
};

struct Backend {
  std::string name;
  std::unique_ptr<Ops> (*make)(Trace&);
  DType real;    // the type of its values
  DType inputs;  // what values are rounded to before they become `real`
};
extern const Backend cpu_backend, cpu_bf16_backend, reference_backend, meta_backend,
    meta_bf16_backend;
/// The reference on the very numbers that `backend` gets.
Backend reference_for(const Backend& backend);

class Session {
 public:
  explicit Session(const Backend& backend, Index gap = 0);

  Ops& ops() { return *ops_; }
  const CountingTrace& trace() const { return trace_; }

  Tensor values(const Matrix& m);
  /// In the type of sums over values.
  Tensor accumulated(const Matrix& m) { return put(m, accumulator(real_)); }
  /// What an op left in the accumulator type, as values.
  Tensor as_values(const Tensor& t) { return values(read(t)); }
  Tensor indices(const Matrix& m) { return put(m, DType::i32); }
  Tensor sums(const Matrix& m) { return put(m, DType::f64); }
  Tensor put(const Matrix& m, DType dtype);
  /// An output that no op has written: all NaN.
  Tensor poisoned(Index rows, Index cols);
  Tensor poisoned_accumulator(Index rows, Index cols);

  /// Contract: the gap of the tensor is as it was made.
  Matrix read(const Tensor& t);

 private:
  CountingTrace trace_;
  std::unique_ptr<Ops> ops_;
  DType real_, inputs_;
  bool has_memory_;
  Index gap_;
};

}  // namespace cpplan::kernels::test
