// Every collective on in-process ranks against a plain sum, and bit for bit against the sum in the
// documented order of the ring.
#include <doctest/doctest.h>

#include <cmath>

#include "comm/rank_runner.hpp"
#include "recorder.hpp"
#include "support.hpp"

namespace cpplan::comm::test {
namespace {
using namespace std::chrono_literals;

constexpr int sizes[] = {1, 2, 3, 4, 5, 8};
constexpr DType dtypes[] = {DType::i32, DType::bf16, DType::f32, DType::f64};

/// Runs body(rank, its communicator in a group of all ranks) and holds posted bytes against
/// planned.
template <class Body>
void on_ranks(int size, const Body& body) {
  ThreadWorld world(size, 20s);
  std::vector<Recorder> traces(static_cast<std::size_t>(size));
  std::vector<int> members;
  for (int rank = 0; rank < size; ++rank) members.push_back(rank);
  const auto result = run_ranks(world, [&](int rank) {
    auto& trace = traces[static_cast<std::size_t>(rank)];
    body(rank, *make_thread_communicator(world, "dp_cp", 0, members, rank, trace));
  });
  REQUIRE(result.has_value());
  for (int rank = 0; rank < size; ++rank) {
    const Recorder& trace = traces[static_cast<std::size_t>(rank)];
    Ledger posted = world.endpoint(rank).posted();
    for (const char* collective : {"exchange", "all_gather", "reduce_scatter", "all_reduce"})
      CHECK(posted[{"dp_cp", collective}].bytes == trace.sent("dp_cp", collective));
  }
}

/// In a ring the sum over what ends on rank `last` starts on the rank after it.
template <class T, class Op>
T in_ring_order(DType dtype, int last, int size, Index i, Index j, Op op) {
  T result = static_cast<T>(value_of(dtype, (last + 1) % size, i, j));
  for (int k = 2; k <= size; ++k)
    result = static_cast<T>(op(result, static_cast<T>(value_of(dtype, (last + k) % size, i, j))));
  return result;
}

double expected_sum(DType dtype, int last, int size, Index i, Index j) {
  const auto add = [](auto a, auto b) { return a + b; };
  if (dtype == DType::bf16) return in_ring_order<Bf16>(dtype, last, size, i, j, add);
  if (dtype == DType::f32) return in_ring_order<float>(dtype, last, size, i, j, add);
  return in_ring_order<double>(dtype, last, size, i, j, add);
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return 0x1p-8;
    case DType::f32:
      return 0x1p-24;
    case DType::f64:
      return 0x1p-53;
    case DType::i32:
      break;
  }
  return 0;
}

/// How far any order of summation may be from the exact sum.
double rounding(DType dtype, int size, Index i, Index j) {
  double magnitude = 0;
  for (int rank = 0; rank < size; ++rank) magnitude += std::fabs(value_of(dtype, rank, i, j));
  return size * epsilon_of(dtype) * magnitude;
}

double plain_sum(DType dtype, int size, Index i, Index j) {
  double sum = 0;
  for (int rank = 0; rank < size; ++rank) sum += value_of(dtype, rank, i, j);
  return sum;
}

void check_sum(double got, DType dtype, int last, int size, Index i, Index j) {
  CHECK(got == expected_sum(dtype, last, size, i, j));
  CHECK(std::fabs(got - plain_sum(dtype, size, i, j)) <= rounding(dtype, size, i, j));
}

/// The rank whose chunk of an all-reduce holds element e.
int chunk_owner(Index elements, Index e, int size) {
  int owner = 0;
  while (chunk(elements, owner, size).first + chunk(elements, owner, size).count <= e) ++owner;
  return owner;
}

TEST_CASE("all_gather: every shard in its place") {
  for (const int size : sizes)
    for (const DType dtype : dtypes)
      for (const Index rows : {0, 1, 3}) {
        std::vector<Matrix> wholes(static_cast<std::size_t>(size), {dtype, rows * size, 7});
        on_ranks(size, [&](int rank, Communicator& group) {
          Matrix shard = filled(dtype, rank, rows, 7);
          Matrix& whole = wholes[static_cast<std::size_t>(rank)];
          group.all_gather(shard.tensor(), whole.tensor()).wait();
        });
        for (const Matrix& whole : wholes)
          for (Index i = 0; i < whole.rows(); ++i)
            for (Index j = 0; j < 7; ++j)
              CHECK(whole.at(i, j) == value_of(dtype, static_cast<int>(i / rows), i % rows, j));
      }
}

TEST_CASE("all_gather: the shard may be its own place in the whole") {
  std::vector<Matrix> wholes(3, {DType::f32, 6, 5});
  on_ranks(3, [&](int rank, Communicator& group) {
    Matrix& whole = wholes[static_cast<std::size_t>(rank)];
    for (Index i = 0; i < 2; ++i)
      for (Index j = 0; j < 5; ++j) whole.put(2 * rank + i, j, value_of(DType::f32, rank, i, j));
    group.all_gather(whole.tensor().row_range(2 * rank, 2), whole.tensor()).wait();
  });
  for (const Matrix& whole : wholes)
    for (Index i = 0; i < 6; ++i)
      CHECK(whole.at(i, 4) == value_of(DType::f32, static_cast<int>(i / 2), i % 2, 4));
}

TEST_CASE("reduce_scatter: sums in ring order and the whole is left as it was") {
  for (const int size : sizes)
    for (const DType dtype : dtypes)
      for (const Index rows : {0, 1, 3}) {
        std::vector<Matrix> shards(static_cast<std::size_t>(size), {dtype, rows, 5});
        on_ranks(size, [&](int rank, Communicator& group) {
          Matrix whole = filled(dtype, rank, rows * size, 5);
          const auto before = whole.memory();
          group.reduce_scatter(whole.tensor(), shards[static_cast<std::size_t>(rank)].tensor())
              .wait();
          expect(whole.memory() == before, "a reduce-scatter only reads the whole");
        });
        for (int rank = 0; rank < size; ++rank)
          for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < 5; ++j)
              check_sum(shards[static_cast<std::size_t>(rank)].at(i, j), dtype, rank, size,
                        rank * rows + i, j);
      }
}

TEST_CASE("reduce_scatter: the shard may be its own place in the whole") {
  std::vector<Matrix> wholes;
  for (int rank = 0; rank < 4; ++rank) wholes.push_back(filled(DType::f32, rank, 8, 3));
  on_ranks(4, [&](int rank, Communicator& group) {
    const Tensor whole = wholes[static_cast<std::size_t>(rank)].tensor();
    group.reduce_scatter(whole, whole.row_range(2 * rank, 2)).wait();
  });
  for (int rank = 0; rank < 4; ++rank)
    for (Index i = 2 * rank; i < 2 * rank + 2; ++i)
      check_sum(wholes[static_cast<std::size_t>(rank)].at(i, 1), DType::f32, rank, 4, i, 1);
}

TEST_CASE("gather and scatter: columns of a wider matrix and nothing beside them") {
  constexpr Index rows = 2, cols = 3, stride = 9;
  std::vector<Matrix> wholes(3, {DType::f32, 6, cols, stride});
  std::vector<Matrix> shards(3, {DType::f32, rows, cols, stride});
  on_ranks(3, [&](int rank, Communicator& group) {
    Matrix mine = filled(DType::f32, rank, rows, cols, stride);
    group.all_gather(mine.tensor(), wholes[static_cast<std::size_t>(rank)].tensor()).wait();
    Matrix part = filled(DType::f32, rank, 3 * rows, cols, stride);
    group.reduce_scatter(part.tensor(), shards[static_cast<std::size_t>(rank)].tensor()).wait();
  });
  for (int rank = 0; rank < 3; ++rank)
    for (Index j = 0; j < stride; ++j) {
      const Matrix& whole = wholes[static_cast<std::size_t>(rank)];
      const Matrix& shard = shards[static_cast<std::size_t>(rank)];
      for (Index i = 0; i < 3 * rows; ++i)
        if (j < cols)
          CHECK(whole.at(i, j) == value_of(DType::f32, static_cast<int>(i / rows), i % rows, j));
        else
          CHECK(std::isnan(whole.at(i, j)));
      for (Index i = 0; i < rows; ++i)
        if (j < cols)
          check_sum(shard.at(i, j), DType::f32, rank, 3, rank * rows + i, j);
        else
          CHECK(std::isnan(shard.at(i, j)));
    }
}

TEST_CASE("all_reduce: sums in ring order and bit-equal on all ranks") {
  for (const int size : sizes)
    for (const DType dtype : dtypes)
      for (const Index elements : {0, 1, 2, 7, 64, 1001}) {
        std::vector<Matrix> sums;
        for (int rank = 0; rank < size; ++rank) sums.push_back(filled(dtype, rank, 1, elements));
        on_ranks(size, [&](int rank, Communicator& group) {
          group.all_reduce(sums[static_cast<std::size_t>(rank)].tensor()).wait();
        });
        for (const Matrix& sum : sums) CHECK(sum.memory() == sums[0].memory());
        for (Index e = 0; e < elements; ++e)
          check_sum(sums[0].at(0, e), dtype, chunk_owner(elements, e, size), size, 0, e);
      }
}

TEST_CASE("all_reduce: the greatest") {
  for (const int size : sizes)
    for (const DType dtype : dtypes) {
      std::vector<Matrix> greatest;
      for (int rank = 0; rank < size; ++rank) greatest.push_back(filled(dtype, rank, 3, 5));
      on_ranks(size, [&](int rank, Communicator& group) {
        group.all_reduce(greatest[static_cast<std::size_t>(rank)].tensor(), Reduce::max).wait();
      });
      for (const Matrix& m : greatest)
        for (Index i = 0; i < 3; ++i)
          for (Index j = 0; j < 5; ++j) {
            double most = value_of(dtype, 0, i, j);
            for (int rank = 1; rank < size; ++rank)
              most = std::max(most, value_of(dtype, rank, i, j));
            CHECK(m.at(i, j) == most);
          }
    }
}

TEST_CASE("all_reduce: a NaN of any rank is the greatest everywhere") {
  for (int source = 0; source < 4; ++source) {
    std::vector<Matrix> greatest;
    for (int rank = 0; rank < 4; ++rank) greatest.push_back(filled(DType::f32, rank, 1, 4));
    for (Index j = 0; j < 4; ++j) greatest[static_cast<std::size_t>(source)].put(0, j, NAN);
    on_ranks(4, [&](int rank, Communicator& group) {
      group.all_reduce(greatest[static_cast<std::size_t>(rank)].tensor(), Reduce::max).wait();
    });
    for (const Matrix& m : greatest)
      for (Index j = 0; j < 4; ++j) CHECK(std::isnan(m.at(0, j)));
  }
}

}  // namespace
}  // namespace cpplan::comm::test
