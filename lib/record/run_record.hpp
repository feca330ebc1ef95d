#pragma once
// What a training run leaves: the losses, what it sent and what it held, beside what the plan said.
// Written by rank 0, complete or not at all; read by report/ and by whoever compares runs.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "layout/ranks.hpp"

namespace cpplan::record {

struct StepRecord {
  Index step = 0;  // from 1
  double loss = 0, grad_norm = 0, learning_rate = 0;
  double tokens_per_second = 0;  // labelled tokens of the whole world
  double seconds = 0;
  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

/// Norm of the gradient of the mean loss in step 1, of a whole tensor, by its global name.
struct ParameterRecord {
  std::string name;
  double grad_norm = 0;
  friend bool operator==(const ParameterRecord&, const ParameterRecord&) = default;
};

/// What one rank sent in the whole run, of one kind. Ranks that sent alike are a class: the record
/// has the first of each.
struct TrafficRecord {
  int rank = 0;
  std::string group, collective;
  Bytes planned, measured;
  Index messages = 0;  // as measured
  Index ranks = 1;     // of the class
  Index planned_messages = 0;
  friend bool operator==(const TrafficRecord&, const TrafficRecord&) = default;
};

/// Of one rank: its arenas as planned and as used, and by how much the memory of its process grew
/// from before they were made to the most it held; none where ranks share a process.
struct RankMemory {
  int rank = 0;
  Bytes planned_peak, measured_peak;
  std::optional<Bytes> resident_peak;
  friend bool operator==(const RankMemory&, const RankMemory&) = default;
};

struct MemoryRecord {
  Bytes planned_peak, measured_peak;  // the most of any rank
  std::vector<RankMemory> ranks;      // all of them, in order
  friend bool operator==(const MemoryRecord&, const MemoryRecord&) = default;
};

/// Seconds of a step: by the plan's simulation, and the median of all steps but the first.
struct TimeRecord {
  std::optional<double> predicted;
  double measured = 0;
  friend bool operator==(const TimeRecord&, const TimeRecord&) = default;
};

/// Seconds of one rank's steps, without the first where there are more: in which it computed (or
/// was not given a core), and in which it waited for its peers.
struct RankWaits {
  int rank = 0;
  double busy = 0, waited = 0;
  friend bool operator==(const RankWaits&, const RankWaits&) = default;
};

/// How long each member of a group waited in it.
struct GroupWaits {
  std::string group;
  std::vector<int> ranks;
  std::vector<double> seconds;  // as many
  friend bool operator==(const GroupWaits&, const GroupWaits&) = default;
};

/// record/stragglers.hpp reads it.
struct WaitRecord {
  std::vector<RankWaits> ranks;  // all of them, in order
  std::vector<GroupWaits> groups;
  friend bool operator==(const WaitRecord&, const WaitRecord&) = default;
};

struct RunRecord {
  static constexpr std::string_view schema = "cpplan/run/1";

  layout::ParallelDims dims;
  layout::Order order = layout::megatron_order;
  std::string backend, transport;
  std::vector<StepRecord> steps;
  std::vector<ParameterRecord> parameters;
  std::vector<TrafficRecord> communication;
  MemoryRecord memory;
  TimeRecord time;
  WaitRecord waits;
  std::vector<std::string> broken_promises;  // record/promises.hpp; none: the plan held
  int exit = 0;
  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

Json to_json(const RunRecord&);
/// Error: another schema, or a member that is missing or of another kind, by its path.
Result<RunRecord> run_record_from(const Json&);

Result<void> write_run_record(const std::filesystem::path&, const RunRecord&);
Result<RunRecord> read_run_record(const std::filesystem::path&);

}  // namespace cpplan::record
