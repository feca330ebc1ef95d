#pragma once
// Planned beside measured, of every rank.
#include <optional>

#include "engine/meta_run.hpp"
#include "train/rank_loop.hpp"

namespace cpplan::train {

/// What a rank did in its steps.
struct Measurement {
  comm::Ledger posted;
  Bytes peak;                     // of its arenas
  std::optional<Bytes> resident;  // by how much its process grew; none where it shares one
  WaitClock::Waited waited;       // in its steps, without the first where there are more
};

comm::Ledger difference(const comm::Ledger& after, const comm::Ledger& before);

/// Fills communication, memory, waits and broken promises of the record on rank 0. Collective over
/// the world.
void add_measurements(record::RunRecord&, const TrainingRun&, const engine::Footprint& planned,
                      const Measurement& mine, const Rank&);

}  // namespace cpplan::train
