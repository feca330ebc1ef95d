#include "plan/megatron_steps.hpp"

#include <doctest/doctest.h>

#include "plan/steps.hpp"
#include "support/give.hpp"

using namespace cpplan;
using test::give;

namespace {

config::TrainingConfig megatron() {
  config::TrainingConfig c;
  c.dialect = config::Dialect::megatron;
  give(c.megatron.global_batch_size, 128);
  give(c.optimizer.learning_rate, 1e-3);
  return c;
}

plan::Batch batch_of_128() {
  plan::Batch batch;
  batch.batch_size = 128;
  return batch;
}

plan::Steps counted(const config::TrainingConfig& c) {
  return plan::count_steps(c, {}, batch_of_128());
}

}  // namespace

TEST_CASE("megatron steps: iterations as given else whole batches of the samples") {
  auto c = megatron();
  CHECK_FALSE(counted(c).total_num_steps);
  give(c.megatron.train_samples, 268'554'688);
  CHECK(counted(c).total_num_steps == 2'098'083);
  CHECK(counted(c).formula == "268554688 samples // 128 = 2098083 (64 samples unused)");
  give(c.megatron.train_iters, 500);
  CHECK(counted(c).total_num_steps == 500);
  CHECK(counted(c).path == "megatron");
}

TEST_CASE("megatron steps: warm-up in iterations or samples or a share of the decay") {
  auto c = megatron();
  give(c.megatron.train_iters, 1000);
  CHECK(counted(c).warmup_steps == 0);
  give(c.megatron.lr_warmup_iters, 50);
  CHECK(counted(c).warmup_steps == 50);
  give(c.megatron.lr_warmup_samples, 1280);
  CHECK(counted(c).warmup_steps == 10);
  give(c.megatron.lr_decay_iters, 400);
  give(c.megatron.lr_warmup_fraction, 0.25);
  CHECK(counted(c).warmup_steps == 100);
}

TEST_CASE("megatron steps: every style starts at the initial and ends at the least rate") {
  for (const char* style : {"linear", "cosine"}) {
    CAPTURE(style);
    const plan::MegatronLearningRate rate{style, 1e-5, 1e-3, 1e-4, 10, 110};
    CHECK(rate.at(1) == 1e-5);
    CHECK(rate.at(11) == 1e-3);
    CHECK(rate.at(61) == doctest::Approx((1e-3 + 1e-4) / 2));
    CHECK(rate.at(111) == doctest::Approx(1e-4));
    CHECK(rate.at(5000) == 1e-4);
  }
  const plan::MegatronLearningRate root{"inverse-square-root", 0, 1e-3, 1e-4, 100, 10'000};
  CHECK(root.at(401) == doctest::Approx(5e-4));
  const plan::MegatronLearningRate constant{"constant", 0, 1e-3, 0, 0, 10};
  CHECK(constant.at(1) == 1e-3);
}

TEST_CASE("megatron steps: points of saving and evaluation") {
  auto c = megatron();
  give(c.megatron.train_iters, 25);
  give(c.megatron.save_interval, 10);
  give(c.megatron.eval_interval, 20);
  const auto steps = counted(c);
  CHECK(steps.saves.steps == std::vector<Index>{10, 20, 25});
  CHECK(steps.evals.steps == std::vector<Index>{20});
}
