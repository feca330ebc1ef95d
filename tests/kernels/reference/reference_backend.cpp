#include "kernels/reference/reference_backend.hpp"

#include <cstdlib>

#include "base/failure.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::kernels {
namespace reference {

std::byte* ReferenceOps::allocate(Bytes bytes) {
  const Index size = round_up(bytes.count + 1, 4096);
  auto* const block =
      static_cast<std::byte*>(std::aligned_alloc(4096, static_cast<std::size_t>(size)));
  if (!block) throw Failure("cannot allocate memory for the reference backend");
  blocks_.emplace_back(block);
  return block;
}

void ReferenceOps::Free::operator()(std::byte* block) const {
  std::free(block);
}

}  // namespace reference

std::unique_ptr<Ops> make_reference_ops(Trace& trace) {
  return std::make_unique<reference::ReferenceOps>(trace);
}

}  // namespace cpplan::kernels
