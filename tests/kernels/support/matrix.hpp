#pragma once
// Values of a test on the host, in double whatever the backend computes in.
#include <string>
#include <vector>

#include "base/units.hpp"

namespace cpplan::kernels::test {

struct Matrix {
  Index rows = 0, cols = 0;
  std::vector<double> values;  // row-major
  double roundoff = 0;         // relative, of the type they were read from; 0 where that is fine

  double& operator()(Index i, Index j) { return values[i * cols + j]; }
  double operator()(Index i, Index j) const { return values[i * cols + j]; }
};

Matrix filled(Index rows, Index cols, double value);

/// Uniform in [-1, 1) and exact in f32, so that every backend starts from the same numbers. Equal
/// for equal `seed`.
Matrix random_matrix(Index rows, Index cols, std::uint64_t seed);

/// Random whole numbers in [low, high).
Matrix random_indices(Index rows, Index cols, Index low, Index high, std::uint64_t seed);

Matrix rows_of(const Matrix& m, Index first, Index count);
Matrix cols_of(const Matrix& m, Index first, Index count);
/// Times `factor`, rounded to f32.
Matrix scaled(Matrix m, double factor);

/// Empty when every element of `actual` is within `tolerance` times the greatest finite magnitude
/// of `expected`, and once its roundoff; else what differs. NaN and infinities must stand where
/// they stand in `expected`: an output that is left untouched keeps its poison.
std::string difference(const Matrix& actual, const Matrix& expected, double tolerance);

}  // namespace cpplan::kernels::test
