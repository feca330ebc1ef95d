// Which kernels take the gradients of an attention, and their launches: a few heads at a time where
// the workspace holds no more.
#include <algorithm>

#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/attention_dispatch.hpp"
#include "kernels/cuda/attention_key_gradients.cuh"
#include "kernels/cuda/attention_plain.cuh"
#include "kernels/cuda/attention_query_gradients.cuh"
#include "kernels/cuda/attention_statistics.cuh"

namespace cpplan::kernels::cuda {
namespace {

/// Query heads first ... first + count - 1, of whole groups that share a key head, and their
/// statistics.
struct Heads {
  Index first, count, key_heads;
  float* statistics;
};

Index group_size(const AttentionBackward& op) {
  return op.q.cols / op.k.cols;
}

bool on_tensor_cores(const AttentionBackward& op) {
  return tensor_cores_take(op) && aligned_rows(16, op.dout) && aligned_rows(8, op.dq, op.dk, op.dv);
}

template <class T>
void launch_statistics(const AttentionBackward& op, const Heads& heads, const Stream& stream) {
  constexpr Index rows = statistics_threads / 32;
  launch(attention_statistics<T>,
         {.grid_x = static_cast<unsigned>(ceil_div(op.q.rows, rows)),
          .grid_y = static_cast<unsigned>(heads.count),
          .threads = statistics_threads},
         stream, rows_of<const T>(op.out), rows_of<const T>(op.dout), rows_of<const float>(op.lse),
         static_cast<int>(op.q.rows), static_cast<int>(op.head_dim), static_cast<int>(heads.first),
         heads.statistics);
}

BackwardTensors tensors_of(const AttentionBackward& op, const Heads& heads) {
  return {rows_of<const Bf16>(op.q),     rows_of<const Bf16>(op.k),
          rows_of<const Bf16>(op.v),     rows_of<const Bf16>(op.dout),
          rows_of<float>(op.dq),         rows_of<float>(op.dk),
          rows_of<float>(op.dv),         heads.statistics,
          static_cast<int>(heads.first), op.q.rows};
}

template <int head_dim>
void launch_backward(const AttentionBackward& op, GradientOrder order, const Heads& heads,
                     const Stream& stream) {
  using Shape = BackwardShape<head_dim>;
  launch_statistics<Bf16>(op, heads, stream);
  const BackwardTensors all = tensors_of(op, heads);
  BackwardTensors of_keys = all;
  if (order == GradientOrder::fixed) of_keys.dq.data = nullptr;
  for (const WorkList& work : work_lists(op.blocks, Owner::keys, Shape::owned))
    launch(attention_key_gradients<head_dim>,
           tile_launch(heads.key_heads, work, Shape::key_threads, Shape::key_bytes), stream, work,
           attention_arguments(op), of_keys);
  if (order == GradientOrder::any) return;
  for (const WorkList& work : work_lists(op.blocks, Owner::queries, Shape::owned))
    launch(attention_query_gradients<head_dim>,
           tile_launch(heads.count, work, Shape::query_threads, Shape::tiles_bytes), stream, work,
           attention_arguments(op), all);
}

template <class T>
void launch_plain(const AttentionBackward& op, const Heads& heads, const Stream& stream) {
  launch_statistics<T>(op, heads, stream);
  PlainTensors<T> t{rows_of<const T>(op.q), rows_of<const T>(op.k), rows_of<const T>(op.v),
                    rows_of<const T>(op.dout)};
  t.dq = rows_of<float>(op.dq), t.dk = rows_of<float>(op.dk), t.dv = rows_of<float>(op.dv);
  t.statistics = heads.statistics, t.rows = op.q.rows;
  t.first_head = static_cast<int>(heads.first);
  const Index shared_bytes = PlainShape::shared_bytes(op.head_dim);
  for (const WorkList& work : work_lists(op.blocks, Owner::keys, PlainShape::owned))
    launch(plain_key_gradients<T>,
           tile_launch(heads.key_heads, work, PlainShape::threads, shared_bytes), stream, work,
           attention_arguments(op), t);
  for (const WorkList& work : work_lists(op.blocks, Owner::queries, PlainShape::owned))
    launch(plain_query_gradients<T>,
           tile_launch(heads.count, work, PlainShape::threads, shared_bytes), stream, work,
           attention_arguments(op), t);
}

/// f(heads) for as many key heads at a time as the workspace holds.
template <class F>
void for_each_heads(const AttentionBackward& op, std::span<std::byte> workspace, F&& f) {
  const Index group = group_size(op), key_heads = op.heads() / group;
  const Index at_once = std::ssize(workspace) / least_attention_workspace(op).count;
  expect(at_once > 0, "the workspace holds the statistics of one key head");
  auto* const statistics = reinterpret_cast<float*>(workspace.data());
  for (Index first = 0; first < key_heads; first += at_once) {
    const Index count = std::min(at_once, key_heads - first);
    f(Heads{first * group, count * group, count, statistics});
  }
}

}  // namespace

Bytes least_attention_workspace(const AttentionBackward& op) {
  return {2 * 4 * group_size(op) * op.q.rows};
}

Bytes attention_workspace(const AttentionBackward& op) {
  return (op.heads() / group_size(op)) * least_attention_workspace(op);
}

void attention_backward(const AttentionBackward& op, GradientOrder order,
                        std::span<std::byte> workspace, const Stream& stream) {
  if (op.heads() == 0 || op.q.rows == 0 || op.blocks.empty()) return;
  for_each_heads(op, workspace, [&](const Heads& heads) {
    if (on_tensor_cores(op))
      with_tensor_core_size(op.head_dim, [&]<int head_dim>() {
        launch_backward<head_dim>(op, order, heads, stream);
      });
    else
      with_element_type(op, [&]<class T>() { launch_plain<T>(op, heads, stream); });
  });
}

}  // namespace cpplan::kernels::cuda
