#include "train/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/failure.hpp"
#include "comm/rank_runner.hpp"
#include "train/in_process.hpp"

namespace cpplan::train {
namespace {

constexpr double least_share = 1e-3;  // of the norm of all gradients: below it noise is the signal

/// Collects what all ranks of a run have to say.
class Collector {
 public:
  Collector(const VerifyListener& listener, Index before) : listener_(listener), done_(before) {}

  void step(int rank, const engine::StepResult& result) {
    if (rank != 0) return;
    trained_.losses.push_back(result.loss);
    trained_.grad_norms.push_back(result.grad_norm);
    if (listener_) listener_(++done_);
  }

  void gradients(const engine::Trainer& trainer, Index tokens) {
    const std::scoped_lock lock(mutex_);
    add_gradients(trainer, 1.0 / static_cast<double>(tokens), trained_.gradients);
  }

  Trained take() { return std::move(trained_); }

 private:
  const VerifyListener& listener_;
  Index done_;
  std::mutex mutex_;
  Trained trained_;
};

/// Listens to one rank.
class RankObserver final : public StepObserver {
 public:
  RankObserver(int rank, Collector& all) : rank_(rank), all_(all) {}

  void begins(Index step, const StepLimit&) override { step_ = step; }
  void stepped(const engine::Trainer& trainer, const engine::StepResult& result) override {
    if (step_ == 1) all_.gradients(trainer, result.tokens);
    all_.step(rank_, result);
  }
  void ended(const record::StepRecord&) override {}

 private:
  int rank_;
  Collector& all_;
  Index step_ = 0;
};

Result<Trained> train(const TrainingRun& run, StepLimit limit, const VerifyListener& listener,
                      Index before) {
  comm::ThreadWorld world(static_cast<int>(run.job.dims.world()), to_milliseconds(limit.of_wait()));
  Collector all(listener, before);
  const auto body = [&](int number) {
    RankObserver observer(number, all);
    train_rank_in(world, number, run, limit, observer);
  };
  if (const auto done = comm::run_ranks(world, body); !done) return tl::unexpected(done.error());
  return all.take();
}

std::vector<GradientDistance> distances(const WholeTensors& a, const WholeTensors& b) {
  double all = 0;
  for (const auto& [name, tensor] : b) all = std::hypot(all, norm(tensor));
  std::vector<GradientDistance> result;
  for (const auto& [name, expected] : b) {
    const auto found = a.find(name);
    expect(found != a.end() && found->second.size() == expected.size(),
           "the ranks hold the tensors of the model");
    std::vector<double> difference = found->second;
    for (std::size_t i = 0; i < expected.size(); ++i) difference[i] -= expected[i];
    const double size = norm(expected);
    result.push_back({name, norm(difference) / std::max(size, least_share * all), size});
  }
  return result;
}

double relative(double a, double b) {
  return std::abs(a - b) / std::abs(b);
}

/// Also false where `difference` is not a number.
bool within(double difference, double bound) {
  return difference <= bound;
}

}  // namespace

const GradientDistance& Verification::worst() const {
  const auto size = [](const GradientDistance& g) {
    return std::isnan(g.distance) ? HUGE_VAL : g.distance;
  };
  return *std::ranges::max_element(gradients, {}, size);
}

double Verification::loss_difference(std::size_t step) const {
  return relative(in_layout.losses[step], on_one_rank.losses[step]);
}

double Verification::grad_norm_difference(std::size_t step) const {
  return relative(in_layout.grad_norms[step], on_one_rank.grad_norms[step]);
}

std::vector<std::string> Verification::broken() const {
  std::vector<std::string> sentences;
  if (const auto& w = worst(); !within(w.distance, bounds.gradient))
    sentences.push_back(fmt::format("the gradient of {} is off by {:.2g} of its norm, bound {:g}",
                                    w.parameter, w.distance, bounds.gradient));
  for (std::size_t step = 0; step < in_layout.losses.size(); ++step) {
    if (const double off = loss_difference(step); !within(off, bounds.loss))
      sentences.push_back(fmt::format("the loss of step {} is {:.6g} and not {:.6g}, bound {:g}",
                                      step + 1, in_layout.losses[step], on_one_rank.losses[step],
                                      bounds.loss));
    if (const double off = grad_norm_difference(step); !within(off, bounds.grad_norm))
      sentences.push_back(
          fmt::format("the gradient norm of step {} is {:.6g} and not {:.6g}, bound {:g}", step + 1,
                      in_layout.grad_norms[step], on_one_rank.grad_norms[step], bounds.grad_norm));
  }
  return sentences;
}

namespace {

constexpr double bf16_rounding = 1.0 / 256;  // of one number, relative

Verification compared(Trained trained, Trained reference) {
  Verification result{std::move(trained), std::move(reference), {}, {}};
  result.gradients = distances(result.in_layout.gradients, result.on_one_rank.gradients);
  return result;
}

/// What rounding alone does to one rank, doubled.
VerifyBounds bounds_of(const Verification& rounded) {
  VerifyBounds bounds{bf16_rounding, bf16_rounding,
                      std::max(bf16_rounding, 2 * rounded.worst().distance)};
  for (std::size_t step = 0; step < rounded.in_layout.losses.size(); ++step) {
    bounds.loss = std::max(bounds.loss, 2 * rounded.loss_difference(step));
    bounds.grad_norm = std::max(bounds.grad_norm, 2 * rounded.grad_norm_difference(step));
  }
  return bounds;
}

bool rounds(const TrainingRun& run) {
  return run.job.dtype == kernels::DType::bf16;
}

/// Trains one after the other, counting the steps through.
class Trainings {
 public:
  Trainings(StepLimit limit, const VerifyListener& listener) : limit_(limit), listener_(listener) {}

  Result<Trained> operator()(const TrainingRun& run) {
    auto trained = train(run, limit_, listener_, done_);
    done_ += run.steps;
    return trained;
  }

 private:
  StepLimit limit_;
  const VerifyListener& listener_;
  Index done_ = 0;
};

}  // namespace

Index steps_to_verify(const TrainingRun& run) {
  return (rounds(run) ? 3 : 2) * run.steps;
}

Result<Verification> verify(const TrainingRun& run, StepLimit limit,
                            const VerifyListener& listener) {
  Trainings train(limit, listener);
  auto in_layout = train(run);
  if (!in_layout) return tl::unexpected(in_layout.error());
  TrainingRun alone = on_one_rank(run);
  auto on_one_rank = train(alone);
  if (!on_one_rank) return tl::unexpected(on_one_rank.error());
  if (!rounds(run)) return compared(std::move(*in_layout), std::move(*on_one_rank));
  alone.job.dtype = kernels::DType::f32;
  auto exact = train(alone);
  if (!exact) return tl::unexpected(exact.error());
  auto result = compared(std::move(*in_layout), *exact);
  result.bounds = bounds_of(compared(std::move(*on_one_rank), std::move(*exact)));
  return result;
}

}  // namespace cpplan::train
