#pragma once
// The ranks of one communicator of the fake NCCL, seen from the device: operations that are on
// their streams, meet, and move data.
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "comm/nccl_api.hpp"

namespace cpplan::test {
using comm::NcclApi;

/// One operation as it was called. Collectives have no peer; `turn` is their number in the
/// communicator.
struct FakeCall {
  enum class Kind { send, receive, all_gather, reduce_scatter, all_reduce };
  Kind kind;
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;
  NcclApi::Type type = NcclApi::Type::f32;
  NcclApi::Op op = NcclApi::Op::sum;
  int peer = -1;
  long turn = 0;
  bool collective() const { return kind != Kind::send && kind != Kind::receive; }
};

class FakeClique {
 public:
  FakeClique(int number, int size) : number_(number), size_(size) {}

  int size() const { return size_; }
  /// A rank is here; true when all are.
  void join(int rank);
  bool complete();
  /// The host of `rank` has called these. True when all whom they need for the first time have,
  /// too.
  void announce(int rank, const std::vector<FakeCall>& calls);
  bool connected(int rank, const std::vector<FakeCall>& calls);

  /// On the stream of `rank`: returns when all calls are through, or the rank has been aborted.
  void execute(int rank, const std::vector<FakeCall>& calls);
  /// What the rank has on its streams is gone when this returns.
  void abort(int rank);
  bool aborted_by_another(int rank);

  /// A line an operation that stands still.
  std::string standing_still();

 private:
  /// An operation on its stream.
  struct Resident {
    int rank;
    const FakeCall* call;
    bool through = false, misfit = false;
  };
  using Queue = std::deque<Resident*>;

  void enter(Resident&);
  static void leave(Queue&, int rank);
  void meet(int from, int to);
  void meet_all(Queue& residents);
  std::string line_of(const Resident&) const;

  int number_, size_;
  std::mutex mutex_;
  std::condition_variable change_;
  std::set<int> joined_, aborted_;
  std::set<std::pair<int, int>> may_send_, may_receive_;  // (from, to) that were called once
  std::set<int> may_collect_;
  std::map<std::pair<int, int>, Queue> sends_, receives_;  // by (from, to)
  std::map<long, Queue> collectives_;                      // by turn
};

/// What a collective leaves with every rank; `calls` in the order of ranks, of equal count and
/// type.
void run_collective(const std::vector<const FakeCall*>& calls);

std::size_t bytes_of(const FakeCall&);

}  // namespace cpplan::test
