#pragma once
// How a run ended, for programs.
#include "base/json.hpp"
#include "launch/supervisor.hpp"

namespace cpplan::launch {

/// Schema cpplan/outcome/1: {schema, end: "finished" | "failed" | "interrupted" | "checkpointed",
/// exit, message, failure: null or {cause, rank, host, pid, step, group, operation, signal,
/// exit_code, last_words}}. A value that is not known is null.
Json outcome_json(const Outcome&, std::string_view message, int exit_code);

}  // namespace cpplan::launch
