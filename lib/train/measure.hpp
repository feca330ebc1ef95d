#pragma once
// Planned beside measured, of one rank of every pipeline stage.
#include "engine/meta_run.hpp"
#include "train/rank_loop.hpp"

namespace cpplan::train {

/// What a rank did in its steps.
struct Measurement {
  comm::Ledger posted;
  Bytes peak;
};

comm::Ledger difference(const comm::Ledger& after, const comm::Ledger& before);

/// Fills communication and memory of the record on rank 0. Collective over the world.
void add_measurements(record::RunRecord&, const TrainingRun&, const engine::Footprint& planned,
                      const Measurement& mine, const Rank&);

}  // namespace cpplan::train
