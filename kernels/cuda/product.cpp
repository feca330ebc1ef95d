// cuBLASLt. It knows column-major matrices, and a row-major matrix is its transpose in column-major
// order: c^T = op(b)^T op(a)^T, so b is its first operand and a its second.
#include "kernels/cuda/product.hpp"

#include <cublasLt.h>

#include <map>
#include <string>
#include <tuple>

#include "base/failure.hpp"

namespace cpplan::kernels::cuda {
namespace {

void check_status(cublasStatus_t status, const char* call, Place place = Place::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Failure(std::string(call) + " at " + place.file_name() + ":" +
                std::to_string(place.line()) + " failed: " + cublasLtGetStatusString(status));
}

cudaDataType_t data_type(DType dtype) {
  expect(dtype == DType::f32 || dtype == DType::bf16,
         "products of the cuda backend are of f32, bf16");
  return dtype == DType::f32 ? CUDA_R_32F : CUDA_R_16BF;
}

/// Greatest power of two up to 256 that divides the address: algorithms ask for it.
std::uint32_t alignment_of(const Tensor& t) {
  std::uint32_t alignment = 256;
  while (reinterpret_cast<std::uintptr_t>(t.data) % alignment != 0) alignment /= 2;
  return alignment;
}

/// All that the choice of an algorithm depends on.
struct Shape {
  Index m, n, k, a_stride, b_stride, c_stride;
  std::uint32_t a_alignment, b_alignment, c_alignment;
  DType in, out;
  bool transpose_a, transpose_b;

  explicit Shape(const Gemm& op)
      : m(op.c.rows),
        n(op.c.cols),
        k(op.k()),
        a_stride(op.a.stride),
        b_stride(op.b.stride),
        c_stride(op.c.stride),
        a_alignment(alignment_of(op.a)),
        b_alignment(alignment_of(op.b)),
        c_alignment(alignment_of(op.c)),
        in(op.a.dtype),
        out(op.c.dtype),
        transpose_a(op.transpose_a),
        transpose_b(op.transpose_b) {}
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

class MatmulDescription {
 public:
  MatmulDescription(bool transpose_first, bool transpose_second) {
    check_status(cublasLtMatmulDescCreate(&handle_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                 "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, transpose_first ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, transpose_second ? CUBLAS_OP_T : CUBLAS_OP_N);
  }
  ~MatmulDescription() { (void)cublasLtMatmulDescDestroy(handle_); }
  MatmulDescription(const MatmulDescription&) = delete;
  MatmulDescription& operator=(const MatmulDescription&) = delete;
  cublasLtMatmulDesc_t get() const { return handle_; }

 private:
  void set(cublasLtMatmulDescAttributes_t attribute, cublasOperation_t value) {
    check_status(cublasLtMatmulDescSetAttribute(handle_, attribute, &value, sizeof value),
                 "cublasLtMatmulDescSetAttribute");
  }
  cublasLtMatmulDesc_t handle_ = nullptr;
};

class MatrixLayout {
 public:
  /// Of a row-major matrix, as its transpose.
  MatrixLayout(DType dtype, Index rows, Index cols, Index stride) {
    check_status(
        cublasLtMatrixLayoutCreate(&handle_, data_type(dtype), static_cast<std::uint64_t>(cols),
                                   static_cast<std::uint64_t>(rows), stride),
        "cublasLtMatrixLayoutCreate");
  }
  ~MatrixLayout() { (void)cublasLtMatrixLayoutDestroy(handle_); }
  MatrixLayout(const MatrixLayout&) = delete;
  MatrixLayout& operator=(const MatrixLayout&) = delete;
  cublasLtMatrixLayout_t get() const { return handle_; }

 private:
  cublasLtMatrixLayout_t handle_ = nullptr;
};

class Preference {
 public:
  Preference(const Shape& shape, Bytes workspace) {
    check_status(cublasLtMatmulPreferenceCreate(&handle_), "cublasLtMatmulPreferenceCreate");
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::size_t>(workspace.count));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.b_alignment);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.a_alignment);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.c_alignment);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.c_alignment);
  }
  ~Preference() { (void)cublasLtMatmulPreferenceDestroy(handle_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  cublasLtMatmulPreference_t get() const { return handle_; }

 private:
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    check_status(cublasLtMatmulPreferenceSetAttribute(handle_, attribute, &value, sizeof value),
                 "cublasLtMatmulPreferenceSetAttribute");
  }
  cublasLtMatmulPreference_t handle_ = nullptr;
};

/// What is known of products of one shape once the first of them has run.
struct Prepared {
  explicit Prepared(const Shape& s)
      : description(s.transpose_b, s.transpose_a),
        a(s.in, s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k, s.a_stride),
        b(s.in, s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n, s.b_stride),
        c(s.out, s.m, s.n, s.c_stride) {}

  MatmulDescription description;
  MatrixLayout a, b, c;
  cublasLtMatmulAlgo_t algorithm{};
};

std::string describe(const Shape& s) {
  const auto operand = [](char name, bool transposed) {
    return std::string(1, name) + (transposed ? "^T" : "");
  };
  return operand('a', s.transpose_a) + " " + operand('b', s.transpose_b) + " of m " +
         std::to_string(s.m) + ", n " + std::to_string(s.n) + ", k " + std::to_string(s.k);
}

}  // namespace

struct Products::State {
  State() { check_status(cublasLtCreate(&library), "cublasLtCreate"); }
  ~State() { (void)cublasLtDestroy(library); }

  const Prepared& prepared(const Shape& shape, Bytes workspace) {
    const auto [at, is_new] = known.try_emplace(shape, shape);
    if (is_new) choose(shape, workspace, at->second);
    return at->second;
  }

  void choose(const Shape& shape, Bytes workspace, Prepared& p) const {
    const Preference preference(shape, workspace);
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    check_status(
        cublasLtMatmulAlgoGetHeuristic(library, p.description.get(), p.b.get(), p.a.get(),
                                       p.c.get(), p.c.get(), preference.get(), 1, &best, &found),
        "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0) throw Failure("cuBLASLt has no algorithm for " + describe(shape));
    p.algorithm = best.algo;
  }

  cublasLtHandle_t library = nullptr;
  std::map<Shape, Prepared> known;
};

Bytes workspace_bytes() {
  return {32 << 20};  // what NVIDIA recommends for Hopper
}

Products::Products() : state_(std::make_unique<State>()) {}
Products::~Products() = default;

void Products::run(const Gemm& op, const Stream& stream, std::span<std::byte> workspace) {
  const Prepared& p = state_->prepared(Shape(op), {std::ssize(workspace)});
  const float one = 1, before = op.accumulate ? 1 : 0;
  check_status(
      cublasLtMatmul(state_->library, p.description.get(), &one, op.b.data, p.b.get(), op.a.data,
                     p.a.get(), &before, op.c.data, p.c.get(), op.c.data, p.c.get(), &p.algorithm,
                     workspace.data(), workspace.size(), stream.handle()),
      "cublasLtMatmul");
}

}  // namespace cpplan::kernels::cuda
