#include "engine/mpi_counter.hpp"

#include <mpi.h>

#include <vector>

namespace cpplan::test {
namespace {

std::vector<MPI_Comm> communicators;
HandedToMpi handed;

int number_of(MPI_Comm comm) {
  for (std::size_t i = 0; i < communicators.size(); ++i)
    if (communicators[i] == comm) return static_cast<int>(i);
  return -1;  // MPI_COMM_WORLD, or one of MPI's own
}

}  // namespace

const HandedToMpi& handed_to_mpi() {
  return handed;
}

int communicators_made() {
  return static_cast<int>(communicators.size());
}

}  // namespace cpplan::test

// The linker takes these before the library's, which stay callable as PMPI_*.
extern "C" {

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  const int error = PMPI_Comm_split(comm, color, key, made);
  if (error == MPI_SUCCESS) cpplan::test::communicators.push_back(*made);
  return error;
}

int MPI_Isend(const void* from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request* request) {
  int size = 0;
  PMPI_Type_size(type, &size);
  auto& handed = cpplan::test::handed[{cpplan::test::number_of(comm), tag}];
  handed.bytes += cpplan::Bytes{cpplan::Index{count} * size};
  ++handed.messages;
  return PMPI_Isend(from, count, type, peer, tag, comm, request);
}

}  // extern "C"
