#pragma once
// The degrees that a config asks for, and how data parallelism fills what they leave.
#include "config/training_config.hpp"

namespace cpplan::plan {

/// Degrees as asked for; unset, 0 and negative ones count as 1 (rules/ reports them).
struct Degrees {
  Index tp = 1, cp = 1, pp = 1;
};
Degrees requested_degrees(const config::TrainingConfig&);

/// The setting that gives the context-parallel degree: context_parallel_size, or axolotl's older
/// sequence_parallel_degree where that is unset or 0.
const config::Setting<Index>& context_parallel_setting(const config::TrainingConfig&);

/// TP * CP * PP; none beyond 64 bits.
std::optional<Index> model_parallel_size(const Degrees&);

/// dp = ep * shard * replicate where they fit. In axolotl EP multiplies data parallelism, since
/// expert ranks read different data.
struct DataParallel {
  Index dp = 1, shard = 1, replicate = 1, ep = 1;
};

/// What data parallelism makes of `dp` ranks: axolotl's filling rules (utils/distributed.py,
/// build_parallelism_config), without its floors: a division that leaves a rest fills nothing.
DataParallel fill_data_parallel(const config::TrainingConfig&, Index dp);

}  // namespace cpplan::plan
