#pragma once
// Whether a run was what the plan said: bytes to the last one, memory within 3 %.
#include <string>
#include <vector>

#include "record/run_record.hpp"

namespace cpplan::record {

/// By how much the memory that a rank held may differ from what was planned, as a share of it.
inline constexpr double memory_tolerance = 0.03;

/// A sentence for each promise that the run did not keep: "rank 6 sent 130 bytes by exchange over
/// pp, planned 128". None where it kept them all.
std::vector<std::string> broken_promises(const RunRecord&);

/// One message on all of them. Contract: there are some.
std::string check_message(const std::vector<std::string>& broken);

/// Middle of the times of all steps but the first, which warms up; 0 without steps.
double median_step_seconds(const std::vector<StepRecord>&);

}  // namespace cpplan::record
