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
  /// Room for rows of other ranks: the same, counted apart as well.
  Tensor make_remote(DType dtype, Index rows, Index cols) {
    const Bytes before = used_;
    const Tensor made = make(dtype, rows, cols);
    remote_ += used_ - before;
    remote_peak_ = std::max(remote_peak_, remote_);
    return made;
  }

  /// All that is made while a Scope lives goes with it.
  class Scope {
   public:
    explicit Scope(Arena& arena) : arena_(arena), used_(arena.used_), remote_(arena.remote_) {}
    ~Scope() { arena_.used_ = used_, arena_.remote_ = remote_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Arena& arena_;
    Bytes used_, remote_;
  };

  void clear() { used_ = remote_ = {}; }
  Bytes used() const { return used_; }
  Bytes peak() const { return peak_; }
  Bytes remote_peak() const { return remote_peak_; }

 private:
  std::byte* base_ = nullptr;
  Bytes capacity_, used_, peak_;
  Bytes remote_, remote_peak_;  // of used_
};

}  // namespace cpplan::kernels
