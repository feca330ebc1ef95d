#include "kernels/cpu/cpu_backend.hpp"

#include "kernels/cpu/cpu_ops.hpp"

namespace cpplan::kernels {
namespace cpu {

std::byte* CpuOps::allocate(Bytes bytes) {
  return blocks_.emplace_back(bytes).data();
}

float* CpuOps::scratch(Index count) {
  if (static_cast<Index>(scratch_.size()) < count) scratch_.resize(static_cast<std::size_t>(count));
  return scratch_.data();
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
