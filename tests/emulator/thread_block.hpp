#pragma once
// One block of threads: who runs, who waits for whom, and what is wrong when they do not meet. A
// thread runs until it meets others; the last to arrive goes on.
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/units.hpp"
#include "emulator/fiber.hpp"
#include "emulator/place.hpp"

namespace cpplan::emulator {

inline constexpr int warp_size = 32;

struct AsyncCopy {
  std::byte* to;
  const std::byte* from;  // null: zeros
  Place place;
};

struct DeviceThread {
  Fiber fiber;
  int index = 0;
  bool exited = false;
  Meeting waits{};                              // the last that it waited in
  std::vector<AsyncCopy> uncommitted{};         // copies that no commit has seen yet
  std::deque<std::vector<AsyncCopy>> groups{};  // and those under way, oldest first
};

/// What the lanes of a warp hand in, and what they get back in the same place.
using Slot = std::array<std::byte, 64>;
using Slots = std::array<Slot, warp_size>;

struct Warp {
  int arrived = 0, exited = 0;
  Meeting meeting{};
  alignas(64) Slots slots{};
};

struct BlockIndex {
  int x = 0, y = 0, z = 0;
};

/// Grid-wide facts that every thread may ask for.
struct Grid {
  BlockIndex size{};
  int threads = 0;
  std::byte* shared = nullptr;
  Index shared_bytes = 0;
};

/// Threads that can go on, in the order in which they will: a ring, since a block has so many.
class ReadyThreads {
 public:
  void clear() { begin_ = end_ = 0; }
  bool empty() const { return begin_ == end_; }
  void push(int thread) { ring_[end_++ % ring_.size()] = thread; }
  int pop() { return ring_[begin_++ % ring_.size()]; }

 private:
  std::array<int, 1024> ring_{};
  unsigned begin_ = 0, end_ = 0;
};

class ThreadBlock {
 public:
  /// The block that runs on this thread of the host. Contract: one does.
  static ThreadBlock& current();
  static bool running();

  /// Runs `kernel` in every thread. Throws Defect.
  void run(const Grid& grid, BlockIndex index, const std::function<void()>& kernel);

  const Grid& grid() const { return *grid_; }
  BlockIndex index() const { return index_; }
  DeviceThread& thread() { return *threads_[current_]; }

  void sync_block(Place place);

  /// The whole warp meets: each lane hands in `in`, `combine` turns all slots into results at once,
  /// and each lane gets its slot back.
  template <class T>
  T meet_warp(const T& in, Meeting meeting, void (*combine)(Slots&)) {
    static_assert(sizeof(T) <= sizeof(Slot));
    Warp& warp = warps_[current_ / warp_size];
    Slot& slot = warp.slots[current_ % warp_size];
    std::memcpy(slot.data(), &in, sizeof in);
    arrive_at_warp(warp, meeting, combine);
    T out;
    std::memcpy(&out, slot.data(), sizeof out);
    return out;
  }

  /// Ends the launch with these words. Runs in a thread of the block, which never goes on.
  [[noreturn]] void stop(const std::string& words);
  /// "thread 37 (warp 1, lane 5) of block (0, 2, 0)".
  std::string who(int thread) const;

 private:
  static void enter_thread();

  void arrive_at_warp(Warp& warp, Meeting meeting, void (*combine)(Slots&));
  void release_block();
  void finish_thread();
  void run_next(Fiber::Then then = Fiber::Then::comes_back);
  void start_threads();
  void make_ready(int first, int count, int except);
  [[noreturn]] void report_deadlock() const;
  std::string waiting_threads() const;

  const Grid* grid_ = nullptr;
  const std::function<void()>* kernel_ = nullptr;
  BlockIndex index_{};
  Fiber host_;
  std::vector<std::unique_ptr<DeviceThread>> threads_;
  std::vector<Warp> warps_;
  ReadyThreads ready_;
  int current_ = 0, alive_ = 0, at_barrier_ = 0;
  Meeting barrier_{};
  std::string defect_;
};

}  // namespace cpplan::emulator
