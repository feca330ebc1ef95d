#pragma once
// What the files of the MPI test share: the world of this process, and the ways to end it badly.
#include <string>

#include "comm/mpi.hpp"

namespace cpplan::comm::test {

/// Made by main() before the test cases run.
MpiWorld& the_world();

/// Ends the job as `kind` says; every rank calls it. Returns 4 where the job does not end by
/// itself.
int end_badly(const std::string& kind);

}  // namespace cpplan::comm::test
