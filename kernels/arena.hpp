#pragma once
// One block of device memory, handed out from the bottom up. The meta run of a step gives its size,
// so a real step never allocates: parameters, gradients, optimizer, scratch, and one arena for each
// micro-batch in flight.
#include <algorithm>

#include "kernels/tensor.hpp"

namespace cpplan::kernels {

class Arena {
 public:
  static constexpr Index alignment = 256;

  Arena() = default;
  Arena(std::byte* base, Bytes capacity) : base_(base), capacity_(capacity) {}

  /// An uninitialised tensor. Contract: it fits, since the plan sized the arena.
  Tensor make(DType dtype, Index rows, Index cols) {
    const Index at = round_up(used_.count, alignment);
    used_ = {at + rows * cols * size_of(dtype)};
    expect(used_ <= capacity_, "the plan sized this arena");
    peak_ = std::max(peak_, used_);
    return {base_ + at, rows, cols, cols, dtype};
  }
  Tensor like(const Tensor& t) { return make(t.dtype, t.rows, t.cols); }

  /// All that is made while a Scope lives goes with it.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), mark_(arena.used_) {}
    ~Scope() { arena_.used_ = mark_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    Bytes mark_;
  };

  void clear() { used_ = {}; }
  Bytes used() const { return used_; }
  Bytes peak() const { return peak_; }

 private:
  std::byte* base_ = nullptr;
  Bytes capacity_, used_, peak_;
};

}  // namespace cpplan::kernels
