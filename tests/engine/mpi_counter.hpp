#pragma once
// What a process hands to MPI, seen from outside: a layer on MPI's profiling interface that comes
// with whatever it is linked into. It knows communicators and tags, nothing of this program.
#include <map>
#include <utility>

#include "base/units.hpp"

namespace cpplan::test {

struct Handed {
  Bytes bytes;
  Index messages = 0;
};

/// By communicator, in the order of their making by MPI_Comm_split, and tag.
using HandedToMpi = std::map<std::pair<int, int>, Handed>;
const HandedToMpi& handed_to_mpi();

/// Made so far by MPI_Comm_split.
int communicators_made();

}  // namespace cpplan::test
