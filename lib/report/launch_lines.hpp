#pragma once
// The lines that start a plan's ranks: our engine below mpirun and srun, the framework below
// torchrun and accelerate.
#include <string>
#include <vector>

#include "base/json.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

struct LaunchText {
  std::string launcher, line;
};

/// In the order mpirun, srun, torchrun, accelerate; the last one for axolotl alone. Nodes are those
/// of the plan, else one; a host that is not known is written FIRST_HOST.
std::vector<LaunchText> launch_lines(const plan::Plan& plan);

/// {mpirun, srun, torchrun, accelerate}
Json launch_json(const plan::Plan& plan);

}  // namespace cpplan::report
