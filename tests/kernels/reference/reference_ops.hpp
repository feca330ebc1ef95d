#pragma once
// Every op in plain scalar double, written from its declaration and nothing else: what the backends
// are measured against, and what whole steps run on where rounding must not hide a wrong layout.
#include <memory>

#include "kernels/backend.hpp"

namespace cpplan::kernels {

/// Tensors are f64 wherever the cpu backend takes f32.
std::unique_ptr<Ops> make_reference_ops(Trace& trace);

}  // namespace cpplan::kernels
