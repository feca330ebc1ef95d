// Tensor-core instructions and matrix loads by the fragment layouts of the PTX ISA ("Matrix
// Fragments for mma.m16n8k16 with floating point type", "ldmatrix").
#include "emulated_primitives.hpp"
#include "emulator/settings.hpp"

namespace cpplan::kernels::cuda {
namespace {

using emulator::Slots;
using emulator::warp_size;

template <class T>
T from_slot(const Slots& slots, int lane) {
  T value;
  std::memcpy(&value, slots[static_cast<std::size_t>(lane)].data(), sizeof value);
  return value;
}
template <class T>
void to_slot(Slots& slots, int lane, const T& value) {
  std::memcpy(slots[static_cast<std::size_t>(lane)].data(), &value, sizeof value);
}

/// What a lane holds of d += a b, in registers.
struct Fragments {
  float d[4];
  std::uint32_t a[4], b[2];
};

/// The three matrices of a warp. b and d by rows of eight, so that a row is a vector.
struct Tile {
  float a[16][16], b[16][8], d[16][8];

  explicit Tile(const Slots& slots) {
    for (int l = 0; l < warp_size; ++l) gather(from_slot<Fragments>(slots, l), l / 4, l % 4 * 2);
  }
  void gather(const Fragments& f, int g, int t) {
    for (int i = 0; i < 4; ++i) {
      float* const at = &a[g + i % 2 * 8][t + i / 2 * 8];
      at[0] = low_bf16(f.a[i]), at[1] = high_bf16(f.a[i]);
      d[g + i / 2 * 8][t + i % 2] = f.d[i];
    }
    for (int i = 0; i < 2; ++i)
      b[t + 8 * i][g] = low_bf16(f.b[i]), b[t + 8 * i + 1][g] = high_bf16(f.b[i]);
  }
  void multiply() {
    for (int i = 0; i < 16; ++i)
      for (int k = 0; k < 16; ++k)
        for (int j = 0; j < 8; ++j) d[i][j] += a[i][k] * b[k][j];
  }
  void scatter(Slots& slots) const {
    for (int l = 0; l < warp_size; ++l) {
      Fragments f{};
      for (int i = 0; i < 4; ++i) f.d[i] = d[l / 4 + i / 2 * 8][l % 4 * 2 + i % 2];
      to_slot(slots, l, f);
    }
  }
};

void multiply_tile(Slots& slots) {
  ++emulator::statistics().multiply_adds;
  Tile tile(slots);
  tile.multiply();
  tile.scatter(slots);
}

/// What a lane hands in to a matrix load: a row of eight and where it lies.
struct MatrixRow {
  std::uint16_t values[8];
  std::uint32_t bank_group;  // of sixteen bytes
};
struct MatrixFragment {
  std::uint32_t r[4];
};

/// The eight rows of a matrix are read at once where they lie in eight groups of banks.
void count_conflicts(const Slots& slots, int matrix) {
  unsigned seen = 0;
  for (int i = 0; i < 8; ++i) {
    const unsigned group = 1u << from_slot<MatrixRow>(slots, 8 * matrix + i).bank_group;
    emulator::statistics().bank_conflicts += (seen & group) != 0;
    seen |= group;
  }
}

template <bool transposed>
void distribute(Slots& slots) {
  ++emulator::statistics().matrix_loads;
  std::uint16_t m[4][8][8];
  for (int l = 0; l < warp_size; ++l)
    std::memcpy(m[l / 8][l % 8], from_slot<MatrixRow>(slots, l).values, sizeof m[0][0]);
  for (int matrix = 0; matrix < 4; ++matrix) count_conflicts(slots, matrix);
  for (int l = 0; l < warp_size; ++l) {
    MatrixFragment f;
    const int row = l / 4, column = l % 4 * 2;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t low = transposed ? m[i][column][row] : m[i][row][column];
      const std::uint32_t high = transposed ? m[i][column + 1][row] : m[i][row][column + 1];
      f.r[i] = low | high << 16;
    }
    to_slot(slots, l, f);
  }
}

void load(std::uint32_t (&r)[4], const void* row, emulator::Meeting meeting,
          void (*combine)(Slots&)) {
  constexpr std::uintptr_t row_bytes = 16, bank_groups = 8;
  ThreadBlock& block = ThreadBlock::current();
  if (reinterpret_cast<std::uintptr_t>(row) % row_bytes != 0)
    block.stop("misaligned row: " + block.who(block.thread().index) + " in " + meeting.text() +
               " (16 bytes)");
  MatrixRow mine;
  std::memcpy(mine.values, row, sizeof mine.values);
  const auto offset = static_cast<const std::byte*>(row) - block.grid().shared;
  mine.bank_group = static_cast<std::uintptr_t>(offset) / row_bytes % bank_groups;
  struct Exchanged {
    MatrixRow row;
  };
  const Exchanged got = block.meet_warp(Exchanged{mine}, meeting, combine);
  std::memcpy(r, &got, sizeof r);
}

struct Vote {
  bool condition;
};

void any_vote(Slots& slots) {
  bool any = false;
  for (int l = 0; l < warp_size; ++l) any = any || from_slot<Vote>(slots, l).condition;
  for (int l = 0; l < warp_size; ++l) to_slot(slots, l, Vote{any});
}

}  // namespace

bool any_in_warp(bool condition, Caller caller) {
  return ThreadBlock::current()
      .meet_warp(Vote{condition}, {"any_in_warp", caller}, any_vote)
      .condition;
}

void load_matrices(std::uint32_t (&r)[4], const void* shared_row, Caller caller) {
  load(r, shared_row, {"load_matrices", caller}, distribute<false>);
}

void load_transposed(std::uint32_t (&r)[4], const void* shared_row, Caller caller) {
  load(r, shared_row, {"load_transposed", caller}, distribute<true>);
}

void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                  Caller caller) {
  Fragments mine;
  std::memcpy(mine.d, d, sizeof d);
  std::memcpy(mine.a, a, sizeof a);
  mine.b[0] = b0, mine.b[1] = b1;
  const Fragments got =
      ThreadBlock::current().meet_warp(mine, {"multiply_add", caller}, multiply_tile);
  std::memcpy(d, got.d, sizeof d);
}

}  // namespace cpplan::kernels::cuda
