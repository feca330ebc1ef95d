#include "plan/rows.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "support/give.hpp"

using namespace cpplan;
using test::give;

namespace {

using Lengths = std::vector<data::Length>;

plan::PlanInputs loaded(Lengths lengths) {
  plan::PlanInputs inputs;
  inputs.lengths = std::make_shared<data::RowLengths>(
      data::RowLengths{std::move(lengths), data::LengthUnit::tokens, "lengths.txt"});
  return inputs;
}

plan::PlanInputs rows(Index count) {
  plan::PlanInputs inputs;
  inputs.rows = count;
  return inputs;
}

struct Selection {
  plan::Steps steps;
  plan::SelectedLengths lengths;
};

Selection select(const config::TrainingConfig& c, const plan::PlanInputs& inputs, Index length) {
  Selection selection;
  selection.lengths = plan::select_rows(c, inputs, length, selection.steps);
  return selection;
}

Lengths vector_of(std::span<const data::Length> lengths) {
  return {lengths.begin(), lengths.end()};
}

}  // namespace

TEST_CASE("rows: validation takes its rows first") {
  CHECK(plan::split_rows(1000, 0.05).train == 950);
  CHECK(plan::split_rows(1000, 0.05).eval == 50);
  CHECK(plan::split_rows(334, 0.1).eval == 34);
  CHECK(plan::split_rows(1000, 200).train == 800);
  CHECK(plan::split_rows(1000, 0).train == 1000);
}

TEST_CASE("rows: a split that leaves nothing is none") {
  for (const double v : {1.0, -0.1, 1000.0, 5000.0, std::nan("")}) {
    CAPTURE(v);
    CHECK_FALSE(plan::split_rows(1000, v).train);
  }
}

TEST_CASE("rows: a shard is taken before the split") {
  config::TrainingConfig c;
  give(c.batch.dataset_shard_num, 3);
  CHECK(select(c, rows(1000), 512).steps.train_rows == 1000);  // without an index it is ignored
  give(c.batch.dataset_shard_idx, 0);
  give(c.batch.val_set_size, 0.1);
  const auto steps = select(c, rows(1000), 512).steps;
  CHECK(steps.rows == 1000);
  CHECK(steps.rows_after_shard == 334);
  CHECK(steps.train_rows == 300);
  CHECK(steps.eval_rows == 34);
  CHECK(plan::shard_rows(1000, 3, 2) == 333);
}

TEST_CASE("rows: preference training takes no shard") {
  config::TrainingConfig c;
  give(c.batch.dataset_shard_num, 2);
  give(c.batch.dataset_shard_idx, 0);
  give(c.features.rl, std::string("dpo"));
  CHECK(select(c, rows(100), 512).steps.train_rows == 100);
}

TEST_CASE("rows: what the trainer sees needs no filter") {
  config::TrainingConfig c;
  give(c.batch.val_set_size, 0.5);
  plan::PlanInputs inputs;
  inputs.train_rows = 77;
  CHECK(select(c, inputs, 512).steps.train_rows == 77);
}

TEST_CASE("rows: long rows are dropped, cut or refused and short ones dropped") {
  const Lengths lengths = {1, 2, 10, 11, 12, 0};
  config::TrainingConfig c;
  const auto dropped = select(c, loaded(lengths), 10);
  CHECK(vector_of(dropped.lengths.training()) == Lengths{2, 10});
  CHECK(dropped.steps.rows_too_long == 2);
  CHECK(dropped.steps.rows_too_short == 2);
  give(c.batch.excess_length_strategy, std::string("truncate"));
  CHECK(vector_of(select(c, loaded(lengths), 10).lengths.training()) == Lengths{2, 10, 10, 10});
  give(c.batch.excess_length_strategy, std::string("raise"));
  CHECK(select(c, loaded(lengths), 10).steps.rows_too_long == 2);
  give(c.batch.excess_length_strategy, std::string("drop"));
  give(c.batch.min_sample_len, 10);
  CHECK(vector_of(select(c, loaded(lengths), 10).lengths.training()) == Lengths{10});
  give(c.batch.min_sample_len, 0);  // 0 is falsy: the default of 2 stands
  CHECK(select(c, loaded(lengths), 10).steps.train_rows == 2);
}

TEST_CASE("rows: lengths that are all too short are packed as they stand") {
  config::TrainingConfig c;
  CHECK(select(c, loaded({1, 1, 1}), 10).steps.train_rows == 3);
  CHECK(select(c, loaded({1, 1, 2}), 10).steps.train_rows == 1);
  give(c.batch.min_sample_len, 2);  // unless the file says so
  CHECK(select(c, loaded({1, 1, 1}), 10).steps.train_rows == 0);
}

TEST_CASE("rows: a dataset taken as it is keeps every row") {
  config::TrainingConfig c;
  give(c.batch.skip_prepare_dataset, true);
  CHECK(select(c, loaded({1, 999}), 10).steps.train_rows == 2);
}

TEST_CASE("rows: filter then contiguous shard then split, the first rows to training") {
  Lengths lengths(20);
  std::iota(lengths.begin(), lengths.end(), 1);  // 1 is dropped, 2 .. 20 stay
  config::TrainingConfig c;
  give(c.batch.dataset_shard_num, 3);
  give(c.batch.dataset_shard_idx, 1);
  give(c.batch.val_set_size, 2);
  const auto result = select(c, loaded(lengths), 512);
  CHECK(result.steps.rows == 20);
  CHECK(result.steps.rows_after_shard == 6);  // 19 = 7 + 6 + 6
  CHECK(vector_of(result.lengths.training()) == Lengths{9, 10, 11, 12});
  CHECK(vector_of(result.lengths.validation()) == Lengths{13, 14});
  CHECK(result.steps.total_num_tokens == 42);
  CHECK(result.steps.eval_num_tokens == 27);
}

TEST_CASE("rows: a shard of the only dataset is taken before everything else") {
  config::TrainingConfig c;
  c.datasets.emplace_back();
  give(c.datasets[0].shards, 4);
  CHECK(select(c, rows(10), 512).steps.train_rows == 3);
  give(c.datasets[0].shards_idx, 3);
  CHECK(select(c, rows(10), 512).steps.train_rows == 2);
  CHECK(vector_of(select(c, loaded({2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), 512).lengths.training()) ==
        Lengths{5, 9});
  c.datasets.emplace_back();
  CHECK_FALSE(select(c, rows(10), 512).steps.train_rows);  // of which dataset are the ten rows
}
