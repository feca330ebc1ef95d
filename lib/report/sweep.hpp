#pragma once
// One config under several values of a setting, a line each: --sweep.
#include <span>
#include <string>

#include "base/json.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

/// A value of the setting, the plan under it, and the errors that it has.
struct SweepRow {
  std::string value;
  plan::Plan plan;
  int errors = 0;
};

/// DP, batch, the accumulation that keeps the tokens per step of the first row, steps, bytes that a
/// rank sends a step, memory of the framework.
std::string sweep_text(const std::string& key, std::span<const SweepRow> rows);

/// {schema: "cpplan/sweep/1", key, rows: [...]}
Json sweep_json(const std::string& key, std::span<const SweepRow> rows);

}  // namespace cpplan::report
