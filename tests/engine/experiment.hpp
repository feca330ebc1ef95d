#pragma once
// Trains one tiny model in one layout, with ranks as threads, and keeps what must not depend on the
// layout. Every run also holds the plan against what happened: bytes, memory.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/ledger.hpp"
#include "engine/groups.hpp"
#include "engine/meta_run.hpp"
#include "engine/rank_groups.hpp"
#include "kernels/backend.hpp"

namespace cpplan::test {

/// Sanitizers cost an order of magnitude: there, as many steps as show a race or a stray access.
#ifdef CPPLAN_SANITIZED
inline constexpr int full_run = 2;
#else
inline constexpr int full_run = 30;
#endif

struct Experiment {
  layout::ParallelDims dims;
  kernels::DType dtype = kernels::DType::f64;
  bool packing = true;
  double dropout = 0.1;
  int steps = full_run;
  int global_batch = 4, micro_batch_size = 1;
  double learning_rate = 1e-3;  // at its peak, after a warm-up of five steps
  Index vocab_size = 64;
  bool tie_word_embeddings = false;
  Index kv_heads = 4;  // of 8 attention heads
  layout::Order order = layout::megatron_order;
  engine::ContextParallelSettings context_parallel;
  engine::DataParallelSettings data_parallel;
  Index attention_window = 0;
  engine::Recompute recompute = engine::Recompute::none;
  engine::WeightGradients weight_gradients = engine::WeightGradients::in_place;
  int virtual_stages = 1;
  std::vector<int> stage_layers = {};  // of each virtual stage; empty: as many on each
};

/// Bytes by (group, collective).
using Volumes = std::map<std::pair<std::string, std::string>, Index>;

/// Tensors whole, under their global names, in double.
using Tensors = std::map<std::string, std::vector<double>>;

struct Outcome {
  std::vector<double> losses, grad_norms;
  Tensors initial_weights, final_weights;
  Tensors gradients;  // of step 1, of the mean loss
  std::string failure;
  std::vector<std::string> broken_promises;  // bytes or memory that differ from the plan
  std::vector<Volumes> sent;                 // in all steps, by all ranks of a pipeline stage
};

using BackendFactory = std::function<std::unique_ptr<kernels::Ops>(kernels::Trace&)>;

/// The job of the engine, with the capacity that the data need.
engine::Job job_of(const Experiment&);
/// Micro-batch `m` of data-parallel rank `dp` in `step` (from 1).
engine::MicroBatch micro_batch(const Experiment&, Index step, int m, int dp);
double learning_rate_at(const Experiment&, Index step);

/// What one rank has to say. Tensors: its shards alone, at their places in the whole tensors, and
/// only where it is the replica that reports (dp 0, cp 0; of tensors that TP does not cut, tp 0).
struct RankReport {
  std::vector<double> losses, grad_norms;
  Tensors initial_weights, final_weights, gradients;
  engine::Footprint plan;
  engine::MemoryPlan peak;
};
RankReport train_rank(const Experiment&, const engine::Job&, int rank, const comm::GroupSet&,
                      const BackendFactory&);

/// All ranks as threads of this process, connected as `make_groups` does it.
Outcome train(const Experiment&, const BackendFactory&,
              const MakeGroups& make_groups = over_threads);

/// Names of what a rank sent or held otherwise than planned.
std::vector<std::string> broken_promises(const RankReport&, const comm::Ledger& posted, int steps);

/// max over parameters of |a - b| / max(|b|, 1e-3 |all b|), and where.
struct Distance {
  double value = 0;
  std::string parameter;
};
Distance distance(const Tensors& a, const Tensors& b);
/// Greatest relative difference of two curves.
double curve_distance(const std::vector<double>& a, const std::vector<double>& b);

/// "tp2 cp2 pp1 dp1 sp packed".
std::string name_of(const Experiment&);

}  // namespace cpplan::test
