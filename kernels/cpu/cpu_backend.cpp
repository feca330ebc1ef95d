#include "kernels/cpu/cpu_backend.hpp"

#include <memory>

#include "kernels/cpu/cpu_ops.hpp"

namespace cpplan::kernels {
namespace cpu {
namespace {

constexpr std::size_t cache_line = 64;  // and a vector register: loads of it cross none

}  // namespace

std::byte* CpuOps::allocate(Bytes bytes) {
  return blocks_.emplace_back(bytes).data();
}

float* CpuOps::scratch(Index count) {
  const Index room = count + static_cast<Index>(cache_line / sizeof(float));
  if (std::ssize(scratch_) < room) scratch_.resize(static_cast<std::size_t>(room));
  void* begin = scratch_.data();
  std::size_t bytes = scratch_.size() * sizeof(float);
  return static_cast<float*>(std::align(cache_line, bytes - cache_line, begin, bytes));
}

}  // namespace cpu

std::unique_ptr<Ops> make_cpu_ops(Trace& trace) {
  return std::make_unique<cpu::CpuOps>(trace);
}

void set_progress(Ops& ops, std::function<void()> hook) {
  auto* const backend = dynamic_cast<cpu::CpuOps*>(&ops);
  expect(backend != nullptr, "only the cpu backend has a progress hook");
  backend->set_progress(std::move(hook));
}

}  // namespace cpplan::kernels
