#pragma once
// Rows, bins and steps of a plan, and what another version makes of them.
#include "base/json.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

/// {rows, rows_after_shard, rows_too_long, rows_too_short, train_rows, eval_rows, total_num_tokens,
/// eval_num_tokens}
Json data_json(const plan::Steps& steps);

/// {total_num_steps, steps_path, ..., learning_rates, save_steps, saves, save_points, ...}
Json steps_json(const plan::Steps& steps);

/// {sample_packing, and what the replay gave: bins, data_loader_len, sample_packing_eff_est, ...}
Json packing_json(const plan::Plan& plan);

/// --as: {version, as_batch_size, as_steps, verdict, ...}
Json as_json(const plan::AsVersion& as);

}  // namespace cpplan::report
