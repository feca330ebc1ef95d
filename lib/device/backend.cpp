#include "device/backend.hpp"

#include <array>

#include "base/failure.hpp"
#include "device/cuda.hpp"
#include "kernels/cpu/cpu_ops.hpp"

namespace cpplan::device {
namespace {

std::unique_ptr<kernels::Ops> make_cuda_ops(kernels::Trace& trace, int local_rank) {
  const auto devices = cuda_devices();
  if (!devices) throw Failure(devices.error().message);
  const int device = local_rank % static_cast<int>(devices->size());
  return (*cuda_plugin())->make_ops(trace, device);
}

}  // namespace

std::string_view name_of(Backend backend) {
  constexpr std::array<std::string_view, 2> names = {"cpu", "cuda"};
  return names[static_cast<std::size_t>(backend)];
}

Result<Backend> choose_backend(BackendChoice choice) {
  if (choice == BackendChoice::cpu) return Backend::cpu;
  const auto devices = cuda_devices();
  if (devices) return Backend::cuda;
  if (choice == BackendChoice::automatic) return Backend::cpu;
  return tl::unexpected(devices.error());
}

std::unique_ptr<kernels::Ops> make_ops(Backend backend, kernels::Trace& trace, int local_rank,
                                       std::function<void()> progress) {
  if (backend == Backend::cuda) return make_cuda_ops(trace, local_rank);
  auto ops = kernels::make_cpu_ops(trace);
  kernels::set_progress(*ops, std::move(progress));
  return ops;
}

}  // namespace cpplan::device
