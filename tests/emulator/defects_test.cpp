// What kernels do wrong, one kernel a defect: each is found, and the words say who and where.
#include <doctest/doctest.h>

#include "emulated_primitives.hpp"
#include "emulator/settings.hpp"
#include "emulator/support.hpp"

namespace cpplan::emulator::test {
namespace {

using namespace kernels::cuda;
using kernels::Bf16;

/// What is wrong with a launch of 64 threads, or nothing.
template <class... Parameter, class... Argument>
std::string defect_of(void (*kernel)(Parameter...), LaunchShape shape, Argument... arguments) {
  const Stream stream;
  try {
    launch(kernel, shape, stream, arguments...);
    stream.synchronize();
  } catch (const Defect& defect) {
    return defect.what();
  }
  return {};
}

constexpr LaunchShape two_warps{.threads = 64, .shared_bytes = 1000};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// --- meetings ----------------------------------------------------------------------------------
void barrier_in_two_branches() {
  if (warp() == 0)
    sync_block();
  else
    sync_block();
}
void barrier_of_half_the_block() {
  if (warp() == 0) sync_block();
  if (warp() == 1) (void)shuffle_xor(lane(), 1);
  sync_block();
}
void lane_leaves() {
  if (thread() == 5) return;
  (void)shuffle_xor(lane(), 1);
}
void lanes_meet_in_different_operations() {
  if (lane() % 2 == 0)
    (void)shuffle_xor(lane(), 1);
  else
    (void)shuffle(lane(), 0);
}
void half_a_warp_at_the_barrier() {
  if (lane() < 16)
    sync_block();
  else
    sync_warp();
}

// --- memory ------------------------------------------------------------------------------------
void reads_behind_shared(float* out) {
  out[thread()] = dynamic_shared<float>()[2 * 1024];
}
void writes_behind_shared() {
  dynamic_shared<float>()[thread() + 1024] = 1;
}
void reads_behind_global(const float* in, float* out) {
  out[thread()] = in[thread() + 5000];
}
[[maybe_unused]] void writes_just_behind_global(float* out) {
  out[thread() + 4] = 1;
}
void writes_before_global(float* out) {
  out[thread() - 4096] = 1;
}
void copies_from_behind_global(const float* in) {
  copy_async(dynamic_shared<float>() + 4 * thread() % 32, in + 8192);
  commit_copies();
  wait_for_copies<0>();
}

// --- asynchronous copies and tensor cores ------------------------------------------------------
void copies_to_a_misaligned_place(const float* in) {
  copy_async(dynamic_shared<float>() + 1, in);
}
void leaves_with_copies(const float* in) {
  copy_async(dynamic_shared<float>() + 4 * (thread() % 32), in);
  commit_copies();
}
void loads_misaligned_rows() {
  std::uint32_t r[4];
  load_matrices(r, dynamic_shared<Bf16>() + 4);
}

/// Reads what it has copied after waiting for all but `pending` of two groups.
template <int pending>
void copies_and_reads(const float* in, float* out) {
  float* const shared = dynamic_shared<float>();
  for (int half = 0; half < 2; ++half) {
    if (thread() < 8) copy_async(shared + 32 * half + 4 * thread(), in + 32 * half + 4 * thread());
    commit_copies();
  }
  wait_for_copies<pending>();
  sync_block();
  out[thread()] = shared[thread()];
  sync_block();
  wait_for_copies<0>();
}

/// Every thread hands its number to the thread across the block.
template <bool barrier>
void mirrors(float* out) {
  float* const shared = dynamic_shared<float>();
  shared[thread()] = static_cast<float>(thread());
  if (barrier) sync_block();
  out[thread()] = shared[threads() - 1 - thread()];
}

}  // namespace

TEST_CASE("emulator: threads that do not meet are reported with the places where they wait") {
  CHECK(contains(defect_of(barrier_in_two_branches, two_warps), "barrier divergence: thread 32"));
  const std::string deadlock = defect_of(half_a_warp_at_the_barrier, two_warps);
  CHECK(contains(deadlock, "deadlock: no thread of block (0, 0, 0) can go on"));
  CHECK(contains(deadlock, "threads 0 to 15 wait in sync_block at "));
  CHECK(contains(deadlock, "threads 16 to 31 wait in sync_warp at "));
  CHECK(contains(defect_of(barrier_of_half_the_block, two_warps), "barrier divergence"));
}

TEST_CASE("emulator: a warp whose lanes part ways is reported") {
  CHECK(contains(defect_of(lane_leaves, two_warps), "thread 5 (warp 0, lane 5)"));
  CHECK(contains(defect_of(lane_leaves, two_warps), "exits while other lanes of its warp wait"));
  CHECK(contains(defect_of(lanes_meet_in_different_operations, two_warps), "warp divergence"));
}

TEST_CASE("emulator: access outside of shared and global memory is reported with its distance") {
  const kernels::cuda::DeviceMemory in({4096}), out({256});
  const auto* const from = reinterpret_cast<const float*>(in.data());
  auto* const to = reinterpret_cast<float*>(out.data());
  CHECK(contains(defect_of(reads_behind_shared, two_warps, to), "of shared memory"));
  CHECK(
      contains(defect_of(writes_behind_shared, two_warps),
               "thread 0 (warp 0, lane 0) of block (0, 0, 0) reached 3096 bytes behind the end of "
               "1000 bytes of shared memory"));
  CHECK(contains(defect_of(reads_behind_global, two_warps, from, to), "of global memory"));
  CHECK(contains(defect_of(writes_before_global, two_warps, to), "before 256 bytes of global"));
  CHECK(contains(defect_of(copies_from_behind_global, two_warps, from), "behind the end of 4096"));
}

#ifndef CPPLAN_SANITIZED  // the address sanitizer ends the process there
TEST_CASE("emulator: a write into the gap that alignment leaves is found after the launch") {
  const kernels::cuda::DeviceMemory out({260});
  CHECK(contains(
      defect_of(writes_just_behind_global, two_warps, reinterpret_cast<float*>(out.data())),
      "behind the end of 260 bytes of global memory"));
}
#endif

TEST_CASE("emulator: misaligned copies and matrix rows are reported") {
  const kernels::cuda::DeviceMemory in({4096});
  const auto* const from = reinterpret_cast<const float*>(in.data());
  CHECK(contains(defect_of(copies_to_a_misaligned_place, two_warps, from), "misaligned copy"));
  CHECK(contains(defect_of(loads_misaligned_rows, two_warps), "misaligned row"));
  CHECK(contains(defect_of(leaves_with_copies, two_warps, from), "never waited for"));
}

TEST_CASE("emulator: a launch that no device takes is refused") {
  CHECK(contains(defect_of(lane_leaves, {.shared_bytes = 228 * 1024}), "at most 227 KiB"));
  CHECK(contains(defect_of(lane_leaves, {.threads = 48}), "a multiple of 32"));
  CHECK(contains(defect_of(lane_leaves, {.grid_x = 0}), "a grid without blocks"));
}

TEST_CASE("emulator: a copy is seen after the wait and not before") {
  const Values in = Values::counting(64);
  CHECK(results(copies_and_reads<0>, two_warps, in) == in.host);
  const std::vector<float> early = results(copies_and_reads<1>, two_warps, in);
  CHECK(early[31] == in.host[31]);
  CHECK(std::isnan(early[32]));
}

TEST_CASE("emulator: a barrier that is missing shows in one of the two thread orders") {
  const auto mirrored = [](auto kernel, ThreadOrder order) {
    settings().threads = order;
    const std::vector<float> out = results(kernel, two_warps);
    settings() = {};
    return out;
  };
  const auto ascending = mirrored(mirrors<true>, ThreadOrder::ascending);
  CHECK(ascending == mirrored(mirrors<true>, ThreadOrder::descending));
  CHECK(ascending[0] == 63);
  CHECK(std::isnan(mirrored(mirrors<false>, ThreadOrder::ascending)[0]));
  CHECK(std::isnan(mirrored(mirrors<false>, ThreadOrder::descending)[63]));
}

}  // namespace cpplan::emulator::test
