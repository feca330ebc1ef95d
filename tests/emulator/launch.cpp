#include "emulator/launch.hpp"

#include "emulator/guarded_memory.hpp"
#include "emulator/settings.hpp"
#include "emulator/thread_block.hpp"

namespace cpplan::emulator {
namespace {

constexpr Index most_shared_bytes =
    227 * 1024;  // of a block, from sm_90 on; its launch asks for it
constexpr unsigned most_threads = 1024, most_rows = 65535;
constexpr Index shared_alignment = 16;

void check_shape(const kernels::cuda::LaunchShape& shape) {
  const auto refuse = [](const std::string& words) { throw Defect("launch refused: " + words); };
  if (shape.threads == 0 || shape.threads % warp_size != 0 || shape.threads > most_threads)
    refuse(std::to_string(shape.threads) + " threads a block (a multiple of 32 up to 1024)");
  if (shape.grid_x == 0 || shape.grid_y == 0 || shape.grid_z == 0) refuse("a grid without blocks");
  if (shape.grid_y > most_rows || shape.grid_z > most_rows)
    refuse("more than 65535 blocks in the second or third dimension");
  if (shape.shared_bytes > most_shared_bytes)
    refuse(std::to_string(shape.shared_bytes) + " bytes of shared memory (at most 227 KiB)");
}

void run_grid(const kernels::cuda::LaunchShape& shape, const std::function<void()>& kernel) {
  thread_local ThreadBlock block;  // keeps its stacks
  const GuardedMemory shared(MemoryKind::shared, shape.shared_bytes, shared_alignment);
  Grid grid{.threads = static_cast<int>(shape.threads),
            .shared = shared.data(),
            .shared_bytes = shape.shared_bytes};
  grid.size = {static_cast<int>(shape.grid_x), static_cast<int>(shape.grid_y),
               static_cast<int>(shape.grid_z)};
  ++statistics().launches;
  for (int z = 0; z < grid.size.z; ++z)
    for (int y = 0; y < grid.size.y; ++y)
      for (int x = 0; x < grid.size.x; ++x) {
        ++statistics().blocks;
        shared.poison();
        block.run(grid, {x, y, z}, kernel);
      }
  if (const std::string overrun = overrun_of_device_memory(); !overrun.empty())
    throw Defect("illegal access: a kernel " + overrun);
}

}  // namespace

void enqueue_launch(const kernels::cuda::Stream& stream, const kernels::cuda::LaunchShape& shape,
                    std::function<void()> kernel) {
  check_shape(shape);
  enqueue(stream, [=] { run_grid(shape, kernel); });
}

}  // namespace cpplan::emulator
