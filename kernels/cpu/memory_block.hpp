#pragma once
// Host memory for one arena, straight from the operating system: page-aligned, and a page costs
// nothing before it is touched, so that measured peaks are those of the step.
#include <cstddef>

#include "base/units.hpp"

namespace cpplan::kernels::cpu {

class MemoryBlock {
 public:
  /// Throws Failure when there is no more.
  explicit MemoryBlock(Bytes bytes);
  MemoryBlock(MemoryBlock&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
  }
  MemoryBlock& operator=(MemoryBlock&&) = delete;
  ~MemoryBlock();

  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
  Bytes bytes_;
};

}  // namespace cpplan::kernels::cpu
