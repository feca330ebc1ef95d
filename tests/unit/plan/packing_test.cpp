#include "plan/packing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "plan/steps.hpp"
#include "support/give.hpp"

using namespace cpplan;
using test::give;

namespace {

using Lengths = std::vector<data::Length>;

plan::Batch batch_of(Index micro, Index accumulation, Index ranks, Index sequence_len) {
  plan::Batch batch;
  batch.micro_batch_size = micro;
  batch.gradient_accumulation_steps = accumulation;
  batch.effective_world_size = ranks;
  batch.batch_size = micro * accumulation * ranks;
  batch.sequence_len = sequence_len;
  return batch;
}

config::TrainingConfig packed(std::string attention) {
  config::TrainingConfig c;
  give(c.batch.sample_packing, true);
  give(c.batch.curriculum_sampling, true);
  give(c.features.attn_implementation, std::move(attention));
  return c;
}

plan::PlanInputs with(Lengths lengths) {
  plan::PlanInputs inputs;
  inputs.lengths = std::make_shared<data::RowLengths>(
      data::RowLengths{std::move(lengths), data::LengthUnit::tokens, "lengths.txt"});
  return inputs;
}

Lengths varied(Index count) {
  Lengths lengths;
  for (Index i = 0; i < count; ++i)
    lengths.push_back(static_cast<data::Length>(2 + i * 7919 % 997));
  return lengths;
}

}  // namespace

TEST_CASE("packing: attention that takes the ends of documents packs one long row") {
  const auto batch = batch_of(4, 1, 1, 100);
  CHECK(plan::packing_rules(packed("flash_attention_2"), batch).capacity == 400);
  CHECK(plan::bins_per_batch(packed("flash_attention_2"), batch) == 1);
  CHECK(plan::packing_rules(packed("sdpa"), batch).capacity == 100);
  CHECK(plan::bins_per_batch(packed("sdpa"), batch) == 4);
  auto real = packed("flash_attention_2");
  give(real.batch.multipack_real_batches, true);
  CHECK(plan::packing_rules(real, batch).capacity == 100);
  CHECK(plan::bins_per_batch(real, batch) == 4);
}

TEST_CASE("packing: limits of bins and groups") {
  auto c = packed("flash_attention_2");
  const auto batch = batch_of(1, 1, 1, 4096);
  CHECK(plan::packing_rules(c, batch).rows_per_bin == 200);
  CHECK(plan::packing_rules(c, batch).group_size == 100'000);
  give(c.batch.sample_packing_bin_size, 0);
  CHECK(plan::packing_rules(c, batch).rows_per_bin == 4096);
  c.batch.sample_packing_bin_size.value.reset();  // an explicit null
  CHECK(plan::packing_rules(c, batch).rows_per_bin == 4096);
  give(c.batch.sample_packing_sequentially, true);
  CHECK(plan::packing_rules(c, batch).method == data::PackingMethod::next_fit);
}

TEST_CASE("packing: bins in batches drop what fills none") {
  auto c = packed("sdpa");
  const auto batch = batch_of(2, 1, 1, 10);
  const auto packing = *plan::count_steps(c, with(Lengths(10, 4)), batch).packing;
  CHECK(packing.bins == 5);
  CHECK(packing.batches == 2);
  CHECK(packing.data_loader_len == 2);
  CHECK(packing.efficiency == 0.8);  // 32 tokens of the four bins that are kept, of 40
  CHECK(packing.sample_packing_eff_est == 1.0);
  CHECK(packing.replays == 1);
}

TEST_CASE("packing: too few bins for one batch leave nothing to count") {
  auto c = packed("flash_attention_2");
  give(c.batch.multipack_real_batches, true);
  const auto steps = plan::count_steps(c, with({10, 10, 10}), batch_of(4, 1, 1, 10));
  CHECK(steps.packing->bins == 3);
  CHECK(steps.packing->batches == 0);
  CHECK_FALSE(steps.total_num_steps);
  give(c.batch.max_steps, 5);
  CHECK_FALSE(plan::count_steps(c, with({10, 10, 10}), batch_of(4, 1, 1, 10)).total_num_steps);
}

TEST_CASE("packing: the least of several draws is expected below their mean") {
  CHECK(plan::expected_least({5}, 4) == 5);
  CHECK(plan::expected_least({1, 2}, 1) == 1.5);
  CHECK(plan::expected_least({2, 1}, 2) == 1.25);  // 1 unless both draws are 2
  CHECK(plan::expected_least({3, 3, 3}, 4) == 3);
}

TEST_CASE("packing: a random sampler gives bounds around what is expected") {
  auto c = packed("flash_attention_2");
  give(c.batch.curriculum_sampling, false);
  const auto batch = batch_of(1, 1, 1, 1000);
  const auto steps = plan::count_steps(c, with(varied(3000)), batch);
  const auto& p = *steps.packing;
  CHECK(p.replays == 16);
  CHECK(p.min_bins < p.max_bins);
  CHECK(p.min_bins <= p.batches);
  CHECK(p.batches <= p.bins);  // the least of four samplings
  CHECK(p.bins <= p.max_bins);
  CHECK(p.min_steps <= *steps.total_num_steps);
  CHECK(*steps.total_num_steps <= p.max_steps);
  const auto again = plan::count_steps(c, with(varied(3000)), batch);
  CHECK(again.total_num_steps == steps.total_num_steps);
}

TEST_CASE("packing: equal rows pack alike in any order") {
  auto c = packed("flash_attention_2");
  give(c.batch.curriculum_sampling, false);
  const auto p = *plan::count_steps(c, with(Lengths(100, 30)), batch_of(1, 1, 1, 100)).packing;
  CHECK(p.min_bins == 34);
  CHECK(p.max_bins == 34);
  CHECK(p.bins == 34);
}

TEST_CASE("packing: the steps of an epoch are floored and last batches taken off") {
  auto c = packed("flash_attention_2");
  give(c.batch.num_epochs, 2.5);
  give(c.batch.dataloader_drop_last, true);
  const auto steps = plan::count_steps(c, with(Lengths(100, 10)), batch_of(1, 1, 1, 10));
  CHECK(steps.total_num_steps == 247);
  CHECK(steps.formula ==
        "100 bins in batches of 1 = 100; max(1, 100 * 1 // 1) = 100; floor(100 * 2.5 epochs) - "
        "ceil(2.5) = 247");
  CHECK(*steps.epochs == 2.47);
}

TEST_CASE("packing: no step left after the drop gives way to the trainer's epochs") {
  auto c = packed("flash_attention_2");
  give(c.batch.dataloader_drop_last, true);
  const auto steps = plan::count_steps(c, with(Lengths(3, 10)), batch_of(1, 2, 2, 10));
  CHECK(steps.upstream_value == 0);
  CHECK(steps.path == "epochs");
  CHECK(steps.total_num_steps == 1);
}

TEST_CASE("packing: an estimate on little data gives way to epochs of the bins it implies") {
  auto c = packed("flash_attention_2");
  give(c.batch.sample_packing_eff_est, 0.95);
  give(c.batch.num_epochs, 3);
  plan::PlanInputs inputs;
  inputs.total_tokens = 20'000;
  const auto steps = plan::count_steps(c, inputs, batch_of(2, 2, 4, 4096));
  CHECK(steps.upstream_value == -3);
  CHECK(steps.total_num_steps == 3);  // 3 micro-batches over 4 ranks: a step an epoch
  CHECK(steps.trainer_max_steps == 3);
  CHECK(steps.warmup_steps == 0);
  give(c.batch.max_steps, 7);
  CHECK(plan::count_steps(c, inputs, batch_of(2, 2, 4, 4096)).total_num_steps == 7);
}

TEST_CASE("packing: a fractional estimate is run until it is exceeded") {
  auto c = packed("flash_attention_2");
  give(c.batch.sample_packing_eff_est, 0.95);
  give(c.batch.num_epochs, 1.5);
  plan::PlanInputs inputs;
  inputs.total_tokens = 10'000'000;
  const auto steps = plan::count_steps(c, inputs, batch_of(2, 2, 4, 4000));
  // 0.99 * 1e7 / 0.95 / 4000 = 2605.3: // 16 = 162, less 1, times 1.5.
  CHECK(steps.upstream_value == 241.5);
  CHECK(steps.total_num_steps == 242);
}

TEST_CASE("packing: tokens of the file win over tokens that are given") {
  auto c = packed("flash_attention_2");
  give(c.batch.sample_packing_eff_est, 1.0);
  give(c.batch.total_num_tokens, 1'000'000);
  plan::PlanInputs inputs;
  inputs.total_tokens = 5;
  CHECK(plan::count_steps(c, inputs, batch_of(1, 1, 1, 1000)).total_num_tokens == 1'000'000);
}

TEST_CASE("packing: validation rows are packed and counted by the same rule") {
  auto c = packed("flash_attention_2");
  give(c.batch.val_set_size, 5);
  const auto steps = plan::count_steps(c, with(Lengths(25, 10)), batch_of(1, 1, 1, 10));
  CHECK(steps.total_num_steps == 20);
  CHECK(steps.eval_num_steps == 5);
  give(c.batch.eval_sample_packing, false);
  CHECK_FALSE(plan::count_steps(c, with(Lengths(25, 10)), batch_of(1, 1, 1, 10)).eval_num_steps);
}

TEST_CASE("packing: preference training and mamba never take the packing path") {
  auto c = packed("flash_attention_2");
  give(c.features.mamba, true);
  CHECK(plan::count_steps(c, with(Lengths(25, 5)), batch_of(1, 1, 1, 10)).total_num_steps == 25);
}

TEST_CASE("packing: any nonsense is counted without harm") {
  constexpr Index most = std::numeric_limits<Index>::max();
  for (const Index n : {Index{-3}, Index{0}, Index{1}, Index{1} << 40, most}) {
    CAPTURE(n);
    for (const char* attention : {"sdpa", "flash_attention_2"}) {
      auto c = packed(attention);
      for (auto* setting :
           {&c.batch.sample_packing_bin_size, &c.batch.sample_packing_group_size,
            &c.batch.min_sample_len, &c.batch.dataset_shard_num, &c.batch.max_steps,
            &c.batch.total_num_tokens, &c.batch.saves_per_epoch, &c.optimizer.warmup_steps})
        give(*setting, n);
      give(c.batch.dataset_shard_idx, 0);
      give(c.batch.save_steps, static_cast<double>(n));
      give(c.optimizer.learning_rate, 1e-3);
      plan::Batch batch;
      batch.micro_batch_size = batch.gradient_accumulation_steps = std::max<Index>(1, n);
      batch.effective_world_size = batch.batch_size = std::max<Index>(1, n);
      batch.sequence_len = 1000;
      CHECK(plan::count_steps(c, with(varied(50)), batch).total_num_steps.value_or(1) >= 0);
      give(c.batch.sample_packing_eff_est, static_cast<double>(n));
      CHECK(plan::count_steps(c, with(varied(50)), batch).total_num_steps.value_or(1) >= 0);
    }
  }
}
