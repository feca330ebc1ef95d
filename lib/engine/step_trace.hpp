#pragma once
// What one rank does in one step, kept in order so that it can be replayed: a step repeats the same
// few hundred events for every layer and micro-batch, so each is stored once.
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/trace.hpp"

namespace cpplan::engine {

struct TraceEvent {
  enum class Kind : std::uint8_t { compute, start, wait };
  Kind kind = Kind::compute;
  std::string_view op;  // of a compute
  kernels::Cost cost;
  int communicator = 0;                // of a start: its number among the rank's
  std::string_view group, collective;  // of a start; of a wait the group
  Bytes sent;
  std::vector<kernels::Route> routes;
  int starts_ago = 0;  // of a wait: 0 is for the transfer that started last

  friend bool operator==(const TraceEvent&, const TraceEvent&);
};

/// Listens to a step. Transfers in groups of one are left out: they move nothing.
class StepTrace final : public kernels::Trace {
 public:
  void compute(std::string_view op, const kernels::Cost&) override;
  void start(const kernels::TransferStart&) override;
  void wait(std::string_view group, int id) override;

  /// Forgets what came before, such as the initial weights.
  void clear();

  std::size_t size() const { return order_.size(); }
  const TraceEvent& operator[](std::size_t i) const { return distinct_[order_[i]]; }
  /// Number of event i among the distinct ones, and those.
  std::uint32_t number(std::size_t i) const { return order_[i]; }
  const std::vector<TraceEvent>& distinct() const { return distinct_; }

  /// FLOPs of all ops, or of those of one name.
  Flops flops() const;
  Flops flops(std::string_view op) const;

 private:
  struct Hash {
    std::size_t operator()(const TraceEvent&) const;
  };
  void add(TraceEvent event);

  std::vector<TraceEvent> distinct_;
  std::unordered_map<TraceEvent, std::uint32_t, Hash> numbers_;
  std::vector<std::uint32_t> order_;
  std::unordered_map<int, int> under_way_;  // id of a transfer -> how many started before it
  int started_ = 0;
};

}  // namespace cpplan::engine
