#include "emulator/thread_block.hpp"

#include <algorithm>

#include "base/contract.hpp"
#include "emulator/settings.hpp"

namespace cpplan::emulator {
namespace {

thread_local ThreadBlock* running_block = nullptr;

}  // namespace

Settings& settings() {
  thread_local Settings of_this_thread;
  return of_this_thread;
}

Statistics& statistics() {
  thread_local Statistics of_this_thread;
  return of_this_thread;
}

ThreadBlock& ThreadBlock::current() {
  expect(running_block != nullptr, "device code runs in a launch");
  return *running_block;
}

bool ThreadBlock::running() {
  return running_block != nullptr;
}

void ThreadBlock::run(const Grid& grid, BlockIndex index, const std::function<void()>& kernel) {
  grid_ = &grid, index_ = index, kernel_ = &kernel;
  defect_.clear();
  running_block = this;
  start_threads();
  current_ = ready_.pop();
  Fiber::switch_from(host_, thread().fiber);
  running_block = nullptr;
  if (!defect_.empty()) throw Defect(defect_);
  if (alive_ > 0) report_deadlock();
}

void ThreadBlock::start_threads() {
  const int count = grid_->threads;
  alive_ = count, at_barrier_ = 0;
  warps_.assign(static_cast<std::size_t>(count / warp_size), Warp{});
  while (std::ssize(threads_) < count) threads_.push_back(std::make_unique<DeviceThread>());
  for (int i = 0; i < count; ++i) {
    DeviceThread& thread = *threads_[i];
    thread.index = i, thread.exited = false, thread.waits = {};
    thread.uncommitted.clear(), thread.groups.clear();
    thread.fiber.start(enter_thread);
  }
  ready_.clear();
  make_ready(0, count, -1);
}

void ThreadBlock::make_ready(int first, int count, int except) {
  const bool ascending = settings().threads == ThreadOrder::ascending;
  for (int n = 0; n < count; ++n) {
    const int i = ascending ? first + n : first + count - 1 - n;
    if (i != except && !threads_[i]->exited) ready_.push(i);
  }
}

void ThreadBlock::enter_thread() {
  Fiber::entered();
  ThreadBlock& block = current();
  (*block.kernel_)();
  block.finish_thread();
}

void ThreadBlock::finish_thread() {
  DeviceThread& me = thread();
  if (!me.uncommitted.empty() || !me.groups.empty())
    stop(who(current_) + " exits with asynchronous copies that it never waited for");
  Warp& warp = warps_[current_ / warp_size];
  if (warp.arrived > 0)
    stop(who(current_) + " exits while other lanes of its warp wait in " + warp.meeting.text());
  me.exited = true;
  ++warp.exited, --alive_;
  if (at_barrier_ > 0 && at_barrier_ == alive_) release_block();
  for (;;) run_next(Fiber::Then::is_done);
}

void ThreadBlock::run_next(Fiber::Then then) {
  Fiber& from = thread().fiber;
  if (ready_.empty()) return Fiber::switch_from(from, host_, then);
  current_ = ready_.pop();
  Fiber::switch_from(from, thread().fiber, then);
}

void ThreadBlock::stop(const std::string& words) {
  defect_ = words;
  for (;;) Fiber::switch_from(thread().fiber, host_);
}

// --- meetings ----------------------------------------------------------------------------------
void ThreadBlock::sync_block(Place place) {
  const Meeting here{"sync_block", place};
  if (at_barrier_ > 0 && !(barrier_ == here))
    stop("barrier divergence: " + who(current_) + " reached " + here.text() +
         " while others of its block wait in " + barrier_.text());
  barrier_ = here;
  ++at_barrier_;
  if (at_barrier_ == alive_) return release_block();
  thread().waits = here;
  run_next();
}

void ThreadBlock::release_block() {
  at_barrier_ = 0;
  make_ready(0, grid_->threads, thread().exited ? -1 : current_);
}

void ThreadBlock::arrive_at_warp(Warp& warp, Meeting meeting, void (*combine)(Slots&)) {
  if (warp.exited > 0)
    stop(who(current_) + " waits in " + meeting.text() + " for lanes of its warp that have exited");
  if (warp.arrived > 0 && !(warp.meeting == meeting))
    stop("warp divergence: " + who(current_) + " reached " + meeting.text() +
         " while other lanes of its warp wait in " + warp.meeting.text());
  warp.meeting = meeting;
  ++warp.arrived;
  if (warp.arrived < warp_size) {
    thread().waits = meeting;
    return run_next();
  }
  combine(warp.slots);
  warp.arrived = 0;
  make_ready(current_ / warp_size * warp_size, warp_size, current_);
}

// --- reports -----------------------------------------------------------------------------------
std::string ThreadBlock::who(int thread) const {
  const auto number = [](int n) { return std::to_string(n); };
  return "thread " + number(thread) + " (warp " + number(thread / warp_size) + ", lane " +
         number(thread % warp_size) + ") of block (" + number(index_.x) + ", " + number(index_.y) +
         ", " + number(index_.z) + ")";
}

std::string ThreadBlock::waiting_threads() const {
  const auto state = [&](int i) {
    return threads_[i]->exited ? std::string("exited") : "wait in " + threads_[i]->waits.text();
  };
  std::string text;
  for (int begin = 0, end = 0; begin < grid_->threads; begin = end) {
    while (end < grid_->threads && state(end) == state(begin)) ++end;
    text += "\n  threads " + std::to_string(begin) + " to " + std::to_string(end - 1) + " " +
            state(begin);
  }
  return text;
}

void ThreadBlock::report_deadlock() const {
  throw Defect("deadlock: no thread of block (" + std::to_string(index_.x) + ", " +
               std::to_string(index_.y) + ", " + std::to_string(index_.z) + ") can go on" +
               waiting_threads());
}

}  // namespace cpplan::emulator
