// Which kernel takes an attention, and its launches.
#include "kernels/cuda/attention.hpp"

#include "kernels/cuda/attention_dispatch.hpp"
#include "kernels/cuda/attention_forward.cuh"
#include "kernels/cuda/attention_plain.cuh"

namespace cpplan::kernels::cuda {
namespace {

bool on_tensor_cores(const Attention& op) {
  return tensor_cores_take(op) && aligned_rows(8, op.out);
}

template <int head_dim>
void launch_forward(const Attention& op, const Stream& stream) {
  using Shape = ForwardShape<head_dim>;
  const ForwardTensors tensors{rows_of<const Bf16>(op.q), rows_of<const Bf16>(op.k),
                               rows_of<const Bf16>(op.v), rows_of<float>(op.out),
                               rows_of<float>(op.lse)};
  for (const WorkList& work : work_lists(op.blocks, Owner::queries, Shape::queries))
    launch(attention_forward<head_dim>,
           tile_launch(op.heads(), work, Shape::threads, Shape::shared_bytes), stream, work,
           attention_arguments(op), tensors);
}

template <class T>
void launch_plain(const Attention& op, const Stream& stream) {
  PlainTensors<T> tensors{rows_of<const T>(op.q), rows_of<const T>(op.k), rows_of<const T>(op.v)};
  tensors.out = rows_of<float>(op.out), tensors.lse = rows_of<float>(op.lse);
  for (const WorkList& work : work_lists(op.blocks, Owner::queries, PlainShape::owned))
    launch(
        plain_forward<T>,
        tile_launch(op.heads(), work, PlainShape::threads, PlainShape::shared_bytes(op.head_dim)),
        stream, work, attention_arguments(op), tensors);
}

}  // namespace

void attention(const Attention& op, const Stream& stream) {
  if (op.heads() == 0) return;
  if (on_tensor_cores(op))
    with_tensor_core_size(op.head_dim,
                          [&]<int head_dim>() { launch_forward<head_dim>(op, stream); });
  else
    with_element_type(op, [&]<class T>() { launch_plain<T>(op, stream); });
}

}  // namespace cpplan::kernels::cuda
