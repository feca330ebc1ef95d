#pragma once
// The words that kernels are written in: threads, barriers, shuffles, asynchronous copies and
// tensor cores. On a device they are inline PTX; on a host they have a body in the emulator of the
// tests, so that one source is both. This is the one place that asks which of the two it is.
#if defined(__CUDACC__)
#include "kernels/cuda/device_primitives.cuh"
#else
#include "emulated_primitives.hpp"  // on the include path of whoever emulates a device
#endif
