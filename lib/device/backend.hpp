#pragma once
// What the ranks of a run compute on: chosen once, from what was asked for and what is there.
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "kernels/backend.hpp"

namespace cpplan::device {

enum class Backend : std::uint8_t { cpu, cuda };
/// automatic: cuda where there is a device, else, without a word, cpu.
enum class BackendChoice : std::uint8_t { automatic, cpu, cuda };

std::string_view name_of(Backend);

/// Error: cuda was asked for and this machine has no device, or cannot reach it.
Result<Backend> choose_backend(BackendChoice);

/// The ops of a rank. `local_rank`, its number among the ranks of its host, chooses the device: the
/// ranks of a host with fewer devices share them in turn. `progress` is called between the tiles of
/// long kernels of the host. Throws Failure when the device does.
std::unique_ptr<kernels::Ops> make_ops(Backend, kernels::Trace&, int local_rank,
                                       std::function<void()> progress);

}  // namespace cpplan::device
