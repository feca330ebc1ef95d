#pragma once
// Ranks as threads of one process: the transport of the layout tests, and the one that a thread
// sanitizer can see into. Messages are copies.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/endpoint.hpp"

namespace cpplan::comm {

class ThreadWorld {
 public:
  /// `deadline`: the longest a single wait may take.
  ThreadWorld(int size, std::chrono::milliseconds deadline);
  ~ThreadWorld();

  int size() const;
  /// For the thread that is `rank`.
  Endpoint& endpoint(int rank);

  /// Ends the world: every wait, also those to come, throws Failure with the first reason. Returns
  /// that reason.
  std::string fail(std::string reason);

 private:
  friend std::unique_ptr<Communicator> make_thread_communicator(ThreadWorld&, std::string_view, int,
                                                                std::vector<int>, int,
                                                                kernels::Trace&);
  struct State;
  std::unique_ptr<State> state_;
};

/// The end that world rank `members[rank]` has of a group. `key` sets apart groups that share
/// ranks; it is the same on all members.
std::unique_ptr<Communicator> make_thread_communicator(ThreadWorld& world, std::string_view group,
                                                       int key, std::vector<int> members, int rank,
                                                       kernels::Trace& trace);

}  // namespace cpplan::comm
