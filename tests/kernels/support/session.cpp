#include "kernels/support/session.hpp"

#include <cstring>
#include <limits>

#include "kernels/bf16.hpp"
#include "kernels/cpu/cpu_ops.hpp"
#include "kernels/meta/meta_ops.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::kernels::test {
namespace {

constexpr double sentinel = 12352;  // exact in bf16, too

template <class T>
void write_as(double value, std::byte* to) {
  const T converted = static_cast<T>(value);
  std::memcpy(to, &converted, sizeof converted);
}

template <class T>
double read_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

void write_element(DType dtype, double value, std::byte* to) {
  if (dtype == DType::bf16) write_as<Bf16>(value, to);
  if (dtype == DType::f32) write_as<float>(value, to);
  if (dtype == DType::f64) write_as<double>(value, to);
  if (dtype == DType::i32) write_as<std::int32_t>(value, to);
}

double read_element(DType dtype, const std::byte* from) {
  if (dtype == DType::bf16) return read_as<Bf16>(from);
  if (dtype == DType::f32) return read_as<float>(from);
  if (dtype == DType::f64) return read_as<double>(from);
  return read_as<std::int32_t>(from);
}

double rounded(double value, DType dtype) {
  if (dtype == DType::bf16) return Bf16(value);
  return dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

const Backend cpu_backend{"cpu", make_cpu_ops, DType::f32, DType::f32};
const Backend cpu_bf16_backend{"cpu bf16", make_cpu_ops, DType::bf16, DType::bf16};
const Backend reference_backend{"reference", make_reference_ops, DType::f64, DType::f64};
const Backend meta_backend{"meta", make_meta_ops, DType::f32, DType::f32};
const Backend meta_bf16_backend{"meta bf16", make_meta_ops, DType::bf16, DType::bf16};

Backend reference_for(const Backend& backend) {
  return {"reference", make_reference_ops, DType::f64, backend.inputs};
}

Session::Session(const Backend& backend, Index gap)
    : ops_(backend.make(trace_)),
      real_(backend.real),
      inputs_(backend.inputs),
      has_memory_(backend.make != make_meta_ops),
      gap_(gap) {}

Tensor Session::put(const Matrix& m, DType dtype) {
  const Index stride = m.cols + gap_, size = size_of(dtype);
  std::vector<std::byte> host(static_cast<std::size_t>(m.rows * stride * size));
  for (Index i = 0; i < m.rows; ++i)
    for (Index j = 0; j < stride; ++j)
      write_element(dtype, j < m.cols ? m(i, j) : sentinel, host.data() + (i * stride + j) * size);
  const Tensor whole{ops_->allocate({m.rows * stride * size}), m.rows, stride, stride, dtype};
  ops()(Upload{whole, host.data()});
  return whole.col_range(0, m.cols);
}

Tensor Session::values(const Matrix& m) {
  Matrix exact = m;
  for (double& value : exact.values) value = rounded(value, inputs_);
  return put(exact, real_);
}

Tensor Session::poisoned(Index rows, Index cols) {
  return values(filled(rows, cols, nan));
}

Tensor Session::poisoned_accumulator(Index rows, Index cols) {
  return accumulated(filled(rows, cols, nan));
}

Matrix Session::read(const Tensor& t) {
  const Tensor whole{t.data, t.rows, t.stride, t.stride, t.dtype};
  const Index size = size_of(t.dtype);
  std::vector<std::byte> host(static_cast<std::size_t>(whole.bytes().count));
  ops()(Download{whole, host.data()});
  Matrix m = filled(t.rows, t.cols, 0);
  m.roundoff = t.dtype == DType::bf16 ? 0x1p-8 : 0;
  for (Index i = 0; i < t.rows; ++i)
    for (Index j = 0; j < t.stride; ++j) {
      const double value = read_element(t.dtype, host.data() + (i * t.stride + j) * size);
      if (j < t.cols)
        m(i, j) = value;
      else if (has_memory_)
        expect(value == sentinel, "the op wrote between the rows of a tensor");
    }
  return m;
}

}  // namespace cpplan::kernels::test
