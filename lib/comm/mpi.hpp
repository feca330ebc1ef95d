#pragma once
// MPI ranks. mpi.cpp is the only file that includes mpi.h; all calls come from the thread that made
// the world (MPI_THREAD_FUNNELED). Waits poll with a clock, so that a rank never outlives its peers
// by more than its deadline.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/endpoint.hpp"
#include "comm/watchdog.hpp"

namespace cpplan::comm {

struct MpiSettings {
  std::chrono::milliseconds deadline = std::chrono::seconds(300);  // of one wait; init; finalize
  Bytes largest_message = {Index{1} << 30};  // longer ones go in pieces; MPI counts in int
};

/// MPI from init to finalize; one a process. Destroyed by an exception it aborts the job, since the
/// other ranks would never come to finalize. Failure where MPI reports an error.
class MpiWorld {
 public:
  explicit MpiWorld(Watchdog& watchdog, const MpiSettings& settings = {});
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int rank() const;
  int size() const;
  /// Among the ranks that share this host's memory.
  int local_rank() const;
  const std::string& host_name() const;

  Endpoint& endpoint();

  /// Whether all ranks call this with the same hash; the answer is the same everywhere.
  bool agree(std::uint64_t hash);

  /// What every rank says, in their order. Called by all ranks together.
  std::vector<std::string> gather(const std::string& mine);

  /// Ends the whole job with `exit_code`; the process ends within 2 s even if MPI hangs.
  [[noreturn]] void abort(int exit_code);

 private:
  friend std::unique_ptr<Communicator> make_mpi_communicator(MpiWorld&, std::string_view,
                                                             std::vector<int>, int,
                                                             kernels::Trace&);
  struct State;
  std::unique_ptr<State> state_;
};

/// The end that this process has of the group whose world ranks are `members`, among which it is
/// `rank`. Called by all ranks of the world together, each for its own group: the groups of one
/// call share no rank.
std::unique_ptr<Communicator> make_mpi_communicator(MpiWorld& world, std::string_view group,
                                                    std::vector<int> members, int rank,
                                                    kernels::Trace& trace);

}  // namespace cpplan::comm
