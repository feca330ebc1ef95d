#pragma once
// How much memory the GPUs that people train on leave to a program.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace cpplan::cluster {

struct Gpu {
  std::string_view name;
  Bytes usable;  // the "total capacity" of PyTorch's out-of-memory messages: ECC and firmware off
};

/// By its name in any letter case, with spaces, "-" or "_": "h100", "NVIDIA H100 80GB HBM3",
/// "A100-SXM4-40GB". A name without a size means the largest of that name, except where it says
/// PCIE or a size. None where it is not known.
std::optional<Gpu> find_gpu(std::string_view name);

std::vector<std::string> gpu_names();

}  // namespace cpplan::cluster
