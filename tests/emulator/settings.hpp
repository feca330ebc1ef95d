#pragma once
// In which of the allowed orders the emulated device works, and what it counts. Both belong to the
// thread that asks.
#include "base/units.hpp"

namespace cpplan::emulator {

/// Hardware does not (tests/kernels/device).
inline constexpr bool counting = true;

/// Which ready thread of a block goes first. A kernel that lacks a barrier gives other results in
/// one order than in the other.
enum class ThreadOrder { ascending, descending };

/// When asynchronous copies to shared memory happen: as late as a wait allows finds waits that are
/// missing, at once finds buffers that are overwritten too early.
enum class CopyTime { at_the_wait, at_once };

/// When queued work of a stream happens: as late as a synchronisation allows finds missing ones.
enum class StreamTime { at_the_wait, at_once };

struct Settings {
  ThreadOrder threads = ThreadOrder::ascending;
  CopyTime copies = CopyTime::at_the_wait;
  StreamTime streams = StreamTime::at_the_wait;
  int devices = 1;
};
Settings& settings();

struct Statistics {
  Index launches = 0, blocks = 0;
  Index multiply_adds = 0;   // of tensor cores, of a warp each
  Index matrix_loads = 0;    // of four 8 x 8 matrices
  Index bank_conflicts = 0;  // rows of a matrix load that wait for another row's bank
  Index allocations = 0;     // of device and pinned memory
};
Statistics& statistics();

}  // namespace cpplan::emulator
