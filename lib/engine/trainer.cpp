#include "engine/trainer.hpp"

#include <cmath>

#include "base/failure.hpp"
#include "engine/control.hpp"

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

std::vector<Stage> make_chunks(const Job& job, int stage, ParameterStore& store) {
  std::vector<Stage> chunks;
  for (int v = 0; v < job.virtual_stages; ++v) {
    chunks.emplace_back(job, v * job.dims.pp + stage, store);
  }
  return chunks;
}

/// What multiplies the gradient of the loss sum: the mean over tokens, clipped as
/// torch.nn.utils.clip_grad_norm_ does.
double gradient_scale(double grad_norm, double tokens, double max_grad_norm) {
  const double mean = 1.0 / tokens;
  if (max_grad_norm <= 0) return mean;
  return mean * std::min(1.0, max_grad_norm / (grad_norm + 1e-6));
}

}  // namespace

Bytes MemoryPlan::total() const {
  Bytes sum = parameters + gradients + optimizer + scratch + rebuilt + inputs + control;
  for (const Bytes bytes : saved) sum += bytes;
  return sum;
}

struct Trainer::State {
  State(kernels::Ops& ops_, const Groups& groups_, const Job& job_, layout::Coordinates at,
        const MemoryPlan& memory);

  void clear_gradients();
  void reduce_gradients();
  StepResult summarize(Index number, const StepSummary&);
  void update(Index number, double learning_rate, const StepResult&);

  kernels::Ops& ops;
  const Groups& groups;
  const Job job;
  kernels::Arena parameters, gradients, optimizer, scratch, rebuilt, inputs, control_arena;
  std::vector<kernels::Arena> saved;
  ParameterStore store;
  std::vector<Stage> chunks;
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
      optimizer(allocate(ops, memory.optimizer)),
      scratch(allocate(ops, memory.scratch)),
      rebuilt(allocate(ops, memory.rebuilt)),
      inputs(allocate(ops, memory.inputs)),
      control_arena(allocate(ops, memory.control)),
      saved(allocate(ops, memory.saved)),
      store(ops, job, at[layout::Dim::tp], {parameters, gradients, optimizer}),
      chunks(make_chunks(job, at[layout::Dim::pp], store)),
      control(ops, groups, job, at, control_arena),
      pipeline(ops, groups, job, at, chunks, {saved, scratch, rebuilt, inputs}, control.loss()) {}

void Trainer::State::clear_gradients() {
  for (const Parameter& p : store.all()) ops(kernels::Fill{p.grad, 0.0});
}

void Trainer::State::reduce_gradients() {
  for (const Parameter& p : store.all()) {
    groups.dp_cp.all_reduce(p.grad).wait();
    if (p.shard.partial_over_tp) groups.tp.all_reduce(p.grad).wait();
  }
}

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
                          .tokens = static_cast<Index>(summary.tokens)};
  if (!std::isfinite(result.loss) || !std::isfinite(result.grad_norm)) {
    throw Failure(
        "loss " + std::to_string(result.loss) + " and gradient norm " +
        std::to_string(result.grad_norm) + " in step " + std::to_string(number) +
        " (not finite: training diverged). Try a lower learning_rate or max_grad_norm: 1.0");
  }
  return result;
}

void Trainer::State::update(Index number, double learning_rate, const StepResult& result) {
  const AdamWSettings& a = job.adamw;
  const double tokens = std::max<double>(1.0, static_cast<double>(result.tokens));
  const double scale = gradient_scale(result.grad_norm, tokens, a.max_grad_norm);
  for (const Parameter& p : store.all()) {
    ops(kernels::AdamW{.p = p.value,
                       .g = p.grad,
                       .m = p.m,
                       .v = p.v,
                       .learning_rate = learning_rate,
                       .beta1 = a.beta1,
                       .beta2 = a.beta2,
                       .epsilon = a.epsilon,
                       .weight_decay = a.weight_decay,
                       .grad_scale = scale,
                       .step = number});
  }
}

Trainer::Trainer(kernels::Ops& ops, const Groups& groups, const Job& job, layout::Coordinates at,
                 const MemoryPlan& memory)
    : state_(std::make_unique<State>(ops, groups, job, at, memory)) {}
Trainer::~Trainer() = default;

StepResult Trainer::step(Index number, double learning_rate, const MicroBatchSource& source) {
  State& s = *state_;
  s.clear_gradients();
  s.control.begin_step();
  s.pipeline.run(source);
  s.reduce_gradients();
  const StepResult result = s.summarize(number, s.control.exchange(s.store.all()));
  s.update(number, learning_rate, result);
  return result;
}

std::span<const Parameter> Trainer::parameters() const {
  return state_->store.all();
}
std::span<const double> Trainer::squared_norms() const {
  return state_->squared_norms;
}

MemoryPlan Trainer::peak() const {
  const State& s = *state_;
  MemoryPlan peak{.parameters = s.parameters.peak(),
                  .gradients = s.gradients.peak(),
                  .optimizer = s.optimizer.peak(),
                  .scratch = s.scratch.peak(),
                  .inputs = s.inputs.peak(),
                  .control = s.control_arena.peak(),
                  .rebuilt = s.rebuilt.peak()};
  for (const auto& arena : s.saved) peak.saved.push_back(arena.peak());
  return peak;
}

}  // namespace cpplan::engine
