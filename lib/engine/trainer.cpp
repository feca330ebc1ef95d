#include "engine/trainer.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/failure.hpp"
#include "engine/gradient_reduction.hpp"
#include "engine/model_tensors.hpp"
#include "engine/optimizer.hpp"
#include "engine/snapshot.hpp"

namespace cpplan::engine {
namespace {

kernels::Arena allocate(kernels::Ops& ops, Bytes bytes) {
  return {ops.allocate(bytes), bytes};
}

std::vector<kernels::Arena> allocate(kernels::Ops& ops, const std::vector<Bytes>& sizes) {
  std::vector<kernels::Arena> arenas;
  for (const Bytes bytes : sizes) arenas.push_back(allocate(ops, bytes));
  return arenas;
}

std::vector<Stage> make_chunks(const Job& job, int stage, const ParameterStore& store,
                               UnitTraffic traffic) {
  std::vector<Stage> chunks;
  for (int v = 0; v < job.virtual_stages; ++v) {
    chunks.emplace_back(job, v * job.dims.pp + stage, store, traffic);
  }
  return chunks;
}

}  // namespace

Bytes MemoryPlan::total() const {
  Bytes sum = parameters + gradients + optimizer + scratch + rebuilt + gathered + inputs + control;
  for (const Bytes bytes : saved) sum += bytes;
  return sum + snapshot;
}

struct Trainer::State {
  State(kernels::Ops& ops_, const Groups& groups_, const Job& job_, layout::Coordinates at,
        const MemoryPlan& memory);

  StepResult summarize(Index number, const StepSummary&);
  [[noreturn]] void fail_of_non_finite(Index number, const StepResult&,
                                       const std::optional<NonFinite>&) const;
  std::string tensor_name(Index slot) const;
  void update(Index number, double learning_rate, const StepResult&);

  kernels::Ops& ops;
  const Groups& groups;
  const Job job;
  kernels::Arena parameters, gradients, states, scratch, rebuilt, gathered, inputs, control_arena;
  std::vector<kernels::Arena> saved;
  ParameterStore store;
  std::vector<Parameter> owned;
  ParameterGathering gathering;
  GradientReduction reduction;
  std::vector<Stage> chunks;
  Optimizer optimizer;
  Control control;
  Pipeline pipeline;
  std::vector<double> squared_norms;
};

Trainer::State::State(kernels::Ops& ops_, const Groups& groups_, const Job& job_,
                      layout::Coordinates at, const MemoryPlan& memory)
    : ops(ops_),
      groups(groups_),
      job(job_),
      parameters(allocate(ops, memory.parameters)),
      gradients(allocate(ops, memory.gradients)),
      states(allocate(ops, memory.optimizer)),
      scratch(allocate(ops, memory.scratch)),
      rebuilt(allocate(ops, memory.rebuilt)),
      gathered(allocate(ops, memory.gathered)),
      inputs(allocate(ops, memory.inputs)),
      control_arena(allocate(ops, memory.control)),
      saved(allocate(ops, memory.saved)),
      store(ops, job, at, {parameters, gradients, states, gathered}),
      owned(store.owned()),
      gathering(groups, job, store),
      reduction(ops, groups, job, store),
      chunks(make_chunks(job, at[layout::Dim::pp], store, {gathering, reduction})),
      optimizer(ops, groups, job, store),
      control(ops, groups, job, at, control_arena),
      pipeline(ops, groups, job, at, chunks, {saved, scratch, rebuilt, inputs}, control.loss()) {}

StepResult Trainer::State::summarize(Index number, const StepSummary& summary) {
  const double tokens = std::max(1.0, summary.tokens);
  double squares = 0;
  squared_norms.clear();
  for (const double of_sum : summary.squared_norms) {
    squares += of_sum;
    squared_norms.push_back(of_sum / tokens / tokens);
  }
  const StepResult result{.loss = summary.loss_sum / tokens,
                          .grad_norm = std::sqrt(squares) / tokens,
                          .tokens = static_cast<Index>(summary.tokens),
                          .votes = summary.votes};
  if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm))
    fail_of_non_finite(number, result, summary.non_finite);
  return result;
}

/// Squares of finite gradients can add up to more than a double holds: then it is nobody's own.
void Trainer::State::fail_of_non_finite(Index number, const StepResult& result,
                                        const std::optional<NonFinite>& found) const {
  std::string what = fmt::format("the gradient norm of step {} is {}", number,
                                 std::abs(result.grad_norm));  // -nan is nan
  if (found && found->kind == NonFinite::Kind::loss)
    what = fmt::format("the loss of step {} is {} in this rank's tokens", number,
                       std::abs(result.loss));
  if (found && found->kind == NonFinite::Kind::gradient)
    what = fmt::format("the gradient of {} in step {} is not a number", tensor_name(found->slot),
                       number);
  const bool mine = !found || found->mine;
  throw Failure(what +
                    " (not finite: training diverged). try a lower learning_rate, or "
                    "max_grad_norm: 1.0",
                mine ? Failure::Role::cause : Failure::Role::witness);
}

std::string Trainer::State::tensor_name(Index slot) const {
  for (const TensorSpec& tensor : model_tensors(job.model))
    if (tensor.slot == slot) return tensor.name;
  return "a tensor";
}

void Trainer::State::update(Index number, double learning_rate, const StepResult& result) {
  const double tokens = std::max<double>(1.0, static_cast<double>(result.tokens));
  optimizer.update(number, learning_rate,
                   gradient_scale(result.grad_norm, tokens, job.adamw.max_grad_norm));
  gathering.forget();
}

Trainer::Trainer(kernels::Ops& ops, const Groups& groups, const Job& job, layout::Coordinates at,
                 const MemoryPlan& memory)
    : state_(std::make_unique<State>(ops, groups, job, at, memory)) {}
Trainer::~Trainer() = default;

StepResult Trainer::step(Index number, double learning_rate, const MicroBatchSource& source,
                         const Votes& mine) {
  State& s = *state_;
  s.reduction.begin_step();
  s.control.begin_step();
  s.pipeline.run(source);
  s.reduction.finish();
  const StepResult result = s.summarize(number, s.control.exchange(s.owned, mine));
  s.update(number, learning_rate, result);
  return result;
}

std::span<const Parameter> Trainer::parameters() const {
  return state_->owned;
}
std::span<const double> Trainer::squared_norms() const {
  return state_->squared_norms;
}

void Trainer::values_were_set() {
  state_->optimizer.gather_whole();
}

namespace {

/// `of` every arena.
template <class State, class Of>
MemoryPlan by_arena(const State& s, const Of& of) {
  MemoryPlan plan{.parameters = of(s.parameters),
                  .gradients = of(s.gradients),
                  .optimizer = of(s.states),
                  .scratch = of(s.scratch),
                  .inputs = of(s.inputs),
                  .control = of(s.control_arena),
                  .rebuilt = of(s.rebuilt),
                  .gathered = of(s.gathered)};
  for (const auto& arena : s.saved) plan.saved.push_back(of(arena));
  return plan;
}

}  // namespace

MemoryPlan Trainer::peak() const {
  auto plan = by_arena(*state_, [](const kernels::Arena& arena) { return arena.peak(); });
  plan.remote = state_->scratch.remote_peak();
  if (state_->job.snapshots == Snapshots::host) plan.snapshot = snapshot_bytes(parameters());
  return plan;
}

MemoryPlan Trainer::held() const {
  auto plan = by_arena(*state_, [](const kernels::Arena& arena) { return arena.used(); });
  if (state_->job.snapshots == Snapshots::host) plan.snapshot = snapshot_bytes(parameters());
  return plan;
}

Bytes Trainer::held_in_all() const {
  const State& s = *state_;
  Bytes sum = s.parameters.used() + s.gradients.used() + s.states.used() + s.scratch.used() +
              s.rebuilt.used() + s.gathered.used() + s.inputs.used() + s.control_arena.used();
  for (const auto& arena : s.saved) sum += arena.used();
  return sum;
}

const Position& Trainer::position() const {
  return state_->pipeline.position();
}

}  // namespace cpplan::engine
