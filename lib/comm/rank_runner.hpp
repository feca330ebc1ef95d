#pragma once
// The ranks of a thread world, run to their end.
#include <functional>

#include "base/result.hpp"
#include "comm/threads.hpp"

namespace cpplan::comm {

/// Runs `body` as every rank of `world`, one thread each, and returns when all have ended. The
/// first rank that throws ends the others. A Failure is returned as "rank 2: ..."; what else is
/// thrown is thrown on.
Result<void> run_ranks(ThreadWorld& world, const std::function<void(int rank)>& body);

}  // namespace cpplan::comm
