#include "train/rank_loop.hpp"

#include <cmath>

#include "engine/groups.hpp"
#include "engine/meta_run.hpp"
#include "engine/model_tensors.hpp"
#include "record/promises.hpp"
#include "train/measure.hpp"
#include "train/resident.hpp"
#include "train/saving.hpp"
#include "train/starting_point.hpp"

namespace cpplan::train {
namespace {
using layout::Dim;
using Clock = std::chrono::steady_clock;

std::vector<record::ParameterRecord> parameter_norms(const model::ModelSpec& model,
                                                     std::span<const double> squared) {
  std::vector<record::ParameterRecord> norms;
  for (const engine::TensorSpec& tensor : engine::model_tensors(model))
    norms.push_back({tensor.name, std::sqrt(squared[static_cast<std::size_t>(tensor.slot)])});
  return norms;
}

class RankLoop {
 public:
  RankLoop(const TrainingRun& run, const Rank& rank, StepLimit limit, StepObserver& observer)
      : run_(run),
        rank_(rank),
        limit_(limit),
        observer_(observer),
        at_(layout::Ranks(run.job.dims, run.job.order).coordinates(rank.number)),
        planned_(engine::meta_run(run.job, at_)),
        groups_(engine::groups_of(rank.groups)),
        growth_(rank.process == Process::own ? std::optional(ResidentGrowth()) : std::nullopt),
        trainer_(rank.ops, groups_, run.job, at_, planned_.memory) {}

  record::RunRecord run() {
    Saving saving(run_, rank_, limit_, observer_, trainer_.parameters());
    const Index before = set_starting_point(run_, rank_, trainer_, observer_);
    record::RunRecord record;
    record.dims = run_.job.dims, record.order = run_.job.order;
    const comm::Ledger posted = rank_.endpoint.posted();
    auto next = Saving::Next::go_on;
    for (Index step = before + 1; step <= run_.steps && next == Saving::Next::go_on; ++step) {
      const auto votes = take(step, saving.votes(), record);
      if (step == before + 1 && step < run_.steps && rank_.waits) rank_.waits->forget();
      if (step == 1) record.parameters = parameter_norms(run_.job.model, trainer_.squared_norms());
      next = saving.after(step, votes);
    }
    if (next == Saving::Next::stop) record.exit = checkpointed;
    const auto in_steps = difference(difference(rank_.endpoint.posted(), posted), saving.posted());
    const Measurement mine{.posted = in_steps,
                           .peak = trainer_.peak().total(),
                           .resident = growth_ ? growth_->peak() : std::nullopt,
                           .waited = rank_.waits ? rank_.waits->waited() : WaitClock::Waited{}};
    record.time.measured = record::median_step_seconds(record.steps);
    add_measurements(record, run_, planned_, mine, rank_);
    return record;
  }

 private:
  engine::Votes take(Index step, const engine::Votes& votes, record::RunRecord& record) {
    observer_.begins(step, limit_);
    rank_.endpoint.set_deadline(to_milliseconds(limit_.of_wait()));
    const double learning_rate = run_.learning_rate.at(step);
    if (rank_.waits) rank_.waits->begin_step();
    const auto begin = Clock::now();
    const auto source = [&](int micro) { return micro_batch(run_, step, micro, at_[Dim::dp]); };
    const auto result = trainer_.step(step, learning_rate, source, votes);
    const Seconds taken = Clock::now() - begin;
    if (rank_.waits) rank_.waits->end_step();
    observer_.stepped(trainer_, result);
    limit_.learn(taken);
    record.steps.push_back({.step = step,
                            .loss = result.loss,
                            .grad_norm = result.grad_norm,
                            .learning_rate = learning_rate,
                            .tokens_per_second = static_cast<double>(result.tokens) / taken.count(),
                            .seconds = taken.count()});
    observer_.ended(record.steps.back());
    return result.votes;
  }

  const TrainingRun& run_;
  const Rank& rank_;
  StepLimit limit_;
  StepObserver& observer_;
  layout::Coordinates at_;
  engine::Footprint planned_;
  engine::Groups groups_;
  std::optional<ResidentGrowth> growth_;  // from before the arenas are made
  engine::Trainer trainer_;
};

}  // namespace

record::RunRecord train_rank(const TrainingRun& run, const Rank& rank, StepLimit limit,
                             StepObserver& observer) {
  return RankLoop(run, rank, limit, observer).run();
}

}  // namespace cpplan::train
