// Exit code 77, "skipped", where there is no device.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "kernels/cuda/runtime.hpp"

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  const auto devices = cpplan::kernels::cuda::find_devices();
  if (devices.count == 0) {
    std::printf("skipped: no CUDA device (%s)\n", devices.problem.c_str());
    return skipped;
  }
  return doctest::Context(argc, argv).run();
}
