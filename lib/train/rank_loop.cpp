#include "train/rank_loop.hpp"

#include <cmath>

#include "engine/groups.hpp"
#include "engine/meta_run.hpp"
#include "engine/model_tensors.hpp"
#include "record/promises.hpp"
#include "train/gather.hpp"
#include "train/measure.hpp"
#include "train/resident.hpp"

namespace cpplan::train {
namespace {
using layout::Dim;
using Clock = std::chrono::steady_clock;

/// Names of all tensors of the model, by slot.
std::vector<std::string> tensor_names(const model::ModelSpec& model) {
  std::vector<std::string> names(static_cast<std::size_t>(engine::tensor_count(model)));
  const auto add = [&](const engine::TensorSpec& tensor) {
    names[static_cast<std::size_t>(tensor.slot)] = tensor.name;
  };
  add(engine::embedding_tensor(model));
  for (Index layer = 0; layer < model.num_hidden_layers; ++layer) {
    const auto t = engine::layer_tensors(model, layer);
    for (const auto* tensor :
         {&t.attention_norm, &t.q, &t.k, &t.v, &t.o, &t.mlp_norm, &t.gate, &t.up, &t.down})
      add(*tensor);
  }
  add(engine::final_norm_tensor(model));
  if (!model.tie_word_embeddings) add(engine::output_tensor(model));
  return names;
}

std::vector<record::ParameterRecord> parameter_norms(const model::ModelSpec& model,
                                                     std::span<const double> squared) {
  const auto names = tensor_names(model);
  expect(names.size() == squared.size(), "every tensor of the model has a slot");
  std::vector<record::ParameterRecord> norms;
  for (std::size_t slot = 0; slot < names.size(); ++slot)
    norms.push_back({names[slot], std::sqrt(squared[slot])});
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
    record::RunRecord record;
    record.dims = run_.job.dims, record.order = run_.job.order;
    const comm::Ledger before = rank_.endpoint.posted();
    for (Index step = 1; step <= run_.steps; ++step) {
      record.steps.push_back(take(step));
      if (step == 1) record.parameters = parameter_norms(run_.job.model, trainer_.squared_norms());
    }
    const Measurement mine{.posted = difference(rank_.endpoint.posted(), before),
                           .peak = trainer_.peak().total(),
                           .resident = growth_ ? growth_->peak() : std::nullopt};
    record.time.measured = record::median_step_seconds(record.steps);
    add_measurements(record, run_, planned_, mine, rank_);
    return record;
  }

 private:
  record::StepRecord take(Index step) {
    observer_.begins(step, limit_);
    rank_.endpoint.set_deadline(to_milliseconds(limit_.of_wait()));
    const double learning_rate = run_.learning_rate.at(step);
    const auto begin = Clock::now();
    const auto result = trainer_.step(step, learning_rate, [&](int micro) {
      return micro_batch(run_, step, micro, at_[Dim::dp]);
    });
    const Seconds taken = Clock::now() - begin;
    observer_.stepped(trainer_, result);
    limit_.learn(taken);
    const record::StepRecord record{
        .step = step,
        .loss = result.loss,
        .grad_norm = result.grad_norm,
        .learning_rate = learning_rate,
        .tokens_per_second = static_cast<double>(result.tokens) / taken.count(),
        .seconds = taken.count()};
    observer_.ended(record);
    return record;
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
  agree_on(hash_of(run), rank);
  return RankLoop(run, rank, limit, observer).run();
}

}  // namespace cpplan::train
