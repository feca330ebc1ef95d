#include "kernels/support/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/contract.hpp"
#include "base/philox.hpp"

namespace cpplan::kernels::test {
namespace {

std::uint32_t random_word(std::uint64_t seed, std::size_t element) {
  return philox(seed, {static_cast<std::uint32_t>(element), 0, 0, 7})[0];
}

bool agrees(double actual, double expected, double margin) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected)) return actual == expected;
  return std::abs(actual - expected) <= margin;  // false for NaN
}

}  // namespace

Matrix filled(Index rows, Index cols, double value) {
  return {rows, cols, std::vector<double>(static_cast<std::size_t>(rows * cols), value)};
}

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Matrix m = filled(rows, cols, 0);
  for (std::size_t e = 0; e < m.values.size(); ++e)
    m.values[e] = (random_word(seed, e) >> 8) / 8388608.0 - 1;  // 24 bits
  return m;
}

Matrix random_indices(Index rows, Index cols, Index low, Index high, std::uint64_t seed) {
  Matrix m = filled(rows, cols, 0);
  for (std::size_t e = 0; e < m.values.size(); ++e)
    m.values[e] = static_cast<double>(low + random_word(seed, e) % (high - low));
  return m;
}

Matrix rows_of(const Matrix& m, Index first, Index count) {
  const auto begin = m.values.begin() + first * m.cols;
  return {count, m.cols, {begin, begin + count * m.cols}};
}

Matrix cols_of(const Matrix& m, Index first, Index count) {
  Matrix part = filled(m.rows, count, 0);
  for (Index i = 0; i < m.rows; ++i)
    for (Index j = 0; j < count; ++j) part(i, j) = m(i, first + j);
  return part;
}

Matrix scaled(Matrix m, double factor) {
  for (double& value : m.values) value = static_cast<double>(static_cast<float>(value * factor));
  return m;
}

std::string difference(const Matrix& actual, const Matrix& expected, double tolerance) {
  expect(actual.rows == expected.rows && actual.cols == expected.cols, "equal shapes");
  double greatest = 0;
  for (const double value : expected.values)
    if (std::isfinite(value)) greatest = std::max(greatest, std::abs(value));
  for (Index i = 0; i < actual.rows; ++i)
    for (Index j = 0; j < actual.cols; ++j) {
      const double once = actual.roundoff * std::abs(expected(i, j));
      if (agrees(actual(i, j), expected(i, j), tolerance * greatest + once)) continue;
      std::ostringstream text;
      text.precision(9);
      text << "[" << i << ", " << j << "] is " << actual(i, j) << ", not " << expected(i, j)
           << " (within " << tolerance << " of " << greatest << ")";
      return text.str();
    }
  return {};
}

}  // namespace cpplan::kernels::test
