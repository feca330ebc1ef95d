#include "kernels/cpu/memory_block.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/failure.hpp"

namespace cpplan::kernels::cpu {

MemoryBlock::MemoryBlock(Bytes bytes) : bytes_{std::max<Index>(bytes.count, 1)} {
  void* const block = mmap(nullptr, static_cast<std::size_t>(bytes_.count), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    throw Failure("cannot allocate " + std::to_string(bytes_.count) + " bytes of host memory (" +
                  std::strerror(errno) + "). use more ranks or a smaller micro-batch");
  data_ = static_cast<std::byte*>(block);
}

MemoryBlock::~MemoryBlock() {
  if (data_) munmap(data_, static_cast<std::size_t>(bytes_.count));
}

}  // namespace cpplan::kernels::cpu
