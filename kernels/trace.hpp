#pragma once
// What one rank does, in program order: ops, starts of transfers, waits. A sum over it gives bytes
// by group and FLOPs by op; kept whole it can be replayed by a simulator.
#include <span>
#include <string_view>

#include "base/units.hpp"

namespace cpplan::kernels {

struct Cost {
  Flops flops;
  Bytes read, written;
  Index inner = 0;  // length of the sums of a product: k, of attention head_dim; 0: no product
};

/// One peer of an exchange; `peer` is a rank of the group.
struct Route {
  int peer;
  Bytes sent, received;
};

struct TransferStart {
  int id;                              // counts up within the trace
  std::string_view group, collective;  // "tp", "cp", ...; "exchange", "all_gather", ...
  int rank, size;
  Bytes sent;                     // by this rank, as planned
  std::span<const Route> routes;  // of an exchange; a collective goes round the ring
  int communicator = 0;           // number among the rank's: groups of one name may have several
  Index messages = 0;             // that this rank posts
};

class Trace {
 public:
  virtual ~Trace() = default;
  virtual void compute(std::string_view op, const Cost&) = 0;
  virtual void start(const TransferStart&) = 0;
  virtual void wait(std::string_view group, int id) = 0;
  /// The rank is about to block on that transfer; wait() follows when it is through.
  virtual void waiting(std::string_view, int) {}

  /// The number of the next transfer.
  int next_id() { return next_id_++; }

 private:
  int next_id_ = 0;
};

/// For those who do not look.
class NoTrace final : public Trace {
 public:
  void compute(std::string_view, const Cost&) override {}
  void start(const TransferStart&) override {}
  void wait(std::string_view, int) override {}
};

}  // namespace cpplan::kernels
