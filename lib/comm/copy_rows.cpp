#include "comm/copy_rows.hpp"

#include <cstring>

namespace cpplan::comm {

void copy_rows(const kernels::Tensor& from, const kernels::Tensor& to) {
  expect(same_shape(from, to) && from.dtype == to.dtype, "a copy keeps shape and type");
  if (from.data == to.data || from.elements() == 0) return;
  if (from.contiguous() && to.contiguous()) {
    std::memcpy(to.data, from.data, static_cast<std::size_t>(from.bytes().count));
    return;
  }
  const Index element = size_of(from.dtype);
  for (Index row = 0; row < from.rows; ++row)
    std::memcpy(to.data + row * to.stride * element, from.data + row * from.stride * element,
                static_cast<std::size_t>(from.cols * element));
}

}  // namespace cpplan::comm
