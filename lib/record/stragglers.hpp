#pragma once
// Which ranks the others wait for.
#include <string>
#include <vector>

#include "record/run_record.hpp"

namespace cpplan::record {

/// The member of a group that waits least: it comes last, and the others wait for it.
int straggler_of(const GroupWaits& group);

/// Seconds that the member which waits most waits longer than the straggler.
double held_up(const GroupWaits& group);

/// A sentence on the rank that computes longest, where that is notable, and one on each group in
/// which it is the one waited for, the longest wait first and no more than three: "rank 3 holds the
/// others up: it computes 1.40 s of its steps, the rank in the middle 0.90 s", "in tp {2, 3} rank 2
/// waits 0.41 s for it". None where ranks are alike.
std::vector<std::string> straggler_sentences(const RunRecord&);

}  // namespace cpplan::record
