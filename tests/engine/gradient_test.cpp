// Gradients of the whole model against central differences of its loss, in fp64.
#include <doctest/doctest.h>

#include <cmath>

#include "comm/threads.hpp"
#include "engine/experiment.hpp"
#include "engine/groups.hpp"
#include "kernels/reference/reference_ops.hpp"

namespace cpplan::test {
namespace {

/// A world of one that can be asked for the loss at other weights.
class OneRank {
 public:
  explicit OneRank(const Experiment& e)
      : experiment_(e),
        job_(job_of(e)),
        world_(1, std::chrono::seconds(10)),
        backend_(kernels::make_reference_ops(trace_)),
        set_(comm::make_thread_groups(world_, layout::Ranks(job_.dims), 0, trace_)),
        groups_(engine::groups_of(set_)),
        trainer_(*backend_, groups_, job_, {}, engine::meta_run(job_, {}).memory) {}

  engine::StepResult step() {
    return trainer_.step(1, 0.0, [&](int m) { return micro_batch(experiment_, 1, m, 0); });
  }
  std::span<const engine::Parameter> parameters() const { return trainer_.parameters(); }

  double slope(double& weight) {
    const double h = 1e-5, before = weight;
    weight = before + h;
    const double above = step().loss;
    weight = before - h;
    const double below = step().loss;
    weight = before;
    return (above - below) / (2 * h);
  }

 private:
  Experiment experiment_;
  engine::Job job_;
  kernels::NoTrace trace_;
  comm::ThreadWorld world_;
  std::unique_ptr<kernels::Ops> backend_;
  comm::GroupSet set_;
  engine::Groups groups_;
  engine::Trainer trainer_;
};

void check_gradients(const Experiment& e) {
  OneRank one(e);
  const auto tokens = static_cast<double>(one.step().tokens);
  const std::vector<engine::Parameter> parameters(one.parameters().begin(), one.parameters().end());
  for (const auto& p : parameters) {
    CAPTURE(p.shard.name);
    for (std::uint32_t i = 0; i < (full_run < 30 ? 1 : 3); ++i) {
      const Index at =
          philox(3, {i, static_cast<std::uint32_t>(p.shard.slot), 0, 0})[0] % p.value.elements();
      one.step();
      const double gradient = p.grad.as<double>()[at] / tokens;
      CHECK(one.slope(p.value.as<double>()[at]) ==
            doctest::Approx(gradient).epsilon(1e-5).scale(1e-3));
    }
  }
}

}  // namespace

TEST_CASE("gradients: central differences of the loss with dropout and packing") {
  check_gradients({.packing = true, .dropout = 0.1, .global_batch = 1});
}

TEST_CASE("gradients: central differences with tied embeddings") {
  Experiment e{.packing = false, .dropout = 0.0, .global_batch = 1};
  e.tie_word_embeddings = true;
  check_gradients(e);
}

}  // namespace cpplan::test
