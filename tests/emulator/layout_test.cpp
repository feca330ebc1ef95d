// The primitives compute what they say: products of whole matrices put together from fragments,
// matrix loads, shuffles, sums of several blocks, and streams that wait for each other.
#include <doctest/doctest.h>

#include "emulator/settings.hpp"
#include "emulator/support.hpp"

namespace cpplan::emulator::test {
namespace {

using namespace kernels::cuda;
using kernels::Bf16;

constexpr int rows = 16, inner = 16, cols = 8;

/// d [16, 8] = a [16, 16] b [16, 8], all of it through shared memory: a as it lies, b transposed.
void multiplies(const float* a, const float* b, float* d) {
  Bf16* const shared = dynamic_shared<Bf16>();
  Bf16* const shared_b = shared + rows * inner;
  for (int e = lane(); e < rows * inner; e += 32) shared[e] = to_bf16(a[e]);
  for (int e = lane(); e < inner * cols; e += 32) shared_b[e] = to_bf16(b[e]);
  sync_block();
  std::uint32_t fragment_a[4], fragment_b[4];
  load_matrices(fragment_a, shared + lane() % 16 * inner + lane() / 16 * 8);
  load_transposed(fragment_b, shared_b + lane() % 16 * cols);
  float sums[4] = {};
  multiply_add(sums, fragment_a, fragment_b[0], fragment_b[1]);
  for (int i = 0; i < 4; ++i) d[(lane() / 4 + i / 2 * 8) * cols + lane() % 4 * 2 + i % 2] = sums[i];
}

void sums_lanes(float* out) {
  float sum = static_cast<float>(lane());
  for (int mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
  out[lane()] = sum + shuffle(static_cast<float>(lane()), 7);
}

void adds_blocks(float* sum) {
  if (thread() == 0) atomic_add(sum, static_cast<float>(block_x() + 10 * block_y()));
}

void conflicting_rows(float* out) {
  std::uint32_t r[4];
  load_matrices(r, dynamic_shared<Bf16>() + lane() % 8 * 64);  // rows 128 bytes apart
  out[thread()] = low_bf16(r[0]);
}

/// Product by the definition.
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> d(rows * cols, 0.0f);
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < inner; ++k)
      for (int j = 0; j < cols; ++j) d[i * cols + j] += a[i * inner + k] * b[k * cols + j];
  return d;
}

}  // namespace

TEST_CASE("emulator: fragments of a tensor core lie as documented") {
  std::vector<float> a(rows * inner), b(inner * cols);  // small whole numbers: sums are exact
  for (std::size_t e = 0; e < a.size(); ++e) a[e] = static_cast<float>(e * 7 % 23) - 11;
  for (std::size_t e = 0; e < b.size(); ++e) b[e] = static_cast<float>(e * 5 % 19) - 9;
  const Values in_a(a), in_b(b);
  const DeviceMemory d({rows * cols * 4});
  const Stream stream;
  launch(multiplies, {.shared_bytes = 1024}, stream, in_a.pointer(), in_b.pointer(),
         reinterpret_cast<float*>(d.data()));
  stream.synchronize();
  CHECK(download(d, rows * cols) == product(a, b));
}

TEST_CASE("emulator: shuffles and sums over blocks") {
  CHECK(results(sums_lanes, {}) == std::vector<float>(32, 31 * 16 + 7));
  const DeviceMemory sum({4});
  const Stream stream;
  fill_bytes(sum.data(), 0, sum.bytes(), stream);
  stream.synchronize();
  launch(adds_blocks, {.grid_x = 3, .grid_y = 2, .threads = 64}, stream,
         reinterpret_cast<float*>(sum.data()));
  CHECK(download(sum, 1).front() == 0);  // another stream does not wait
  stream.synchronize();
  CHECK(download(sum, 1).front() == 2 * (0 + 1 + 2) + 3 * 10);
}

TEST_CASE("emulator: matrix rows in one bank are counted") {
  const Index before = statistics().bank_conflicts;
  (void)results(conflicting_rows, {.shared_bytes = 1024});
  CHECK(statistics().bank_conflicts - before == 4 * 7);
}

TEST_CASE("emulator: a stream waits for another by an event alone") {
  const Values source = Values::counting(8);
  const DeviceMemory to({32});
  const Stream producer, consumer;
  const Event written;
  fill_bytes(to.data(), 0, to.bytes(), producer);
  producer.synchronize();
  copy_on_device(to.data(), source.device.data(), to.bytes(), producer);
  written.record(producer);
  CHECK(download(to, 8)[7] == 0);
  std::vector<float> host(8);
  consumer.wait(written);
  copy_to_host(host.data(), to.data(), to.bytes(), consumer);
  CHECK(host == source.host);
  CHECK(written.passed());
}

TEST_CASE("emulator: pinned memory is read when its turn comes and pageable memory at once") {
  const Stream stream;
  const DeviceMemory to({8});
  PinnedMemory pinned({4});
  float pageable = 1;
  auto* const late = reinterpret_cast<float*>(pinned.data());
  *late = 1;
  copy_to_device(to.data(), late, {4}, stream);
  copy_to_device(to.data() + 4, &pageable, {4}, stream);
  *late = 2, pageable = 2;
  stream.synchronize();
  CHECK(download(to, 2) == std::vector<float>{2, 1});
}

TEST_CASE("emulator: a copy outside of device memory is refused with its place") {
  const Stream stream;
  const DeviceMemory to({8});
  float host[4] = {};
  CHECK_THROWS_WITH_AS(copy_to_device(to.data(), host, {16}, stream),
                       doctest::Contains("layout_test.cpp"), Defect);
}

}  // namespace cpplan::emulator::test
