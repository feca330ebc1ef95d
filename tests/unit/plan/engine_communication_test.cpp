// What the engine's ranks send, and the closed formulas beside it.
#include <doctest/doctest.h>

#include "plan/make_plan.hpp"
#include "support/give.hpp"
#include "unit/plan/small_plan.hpp"

using namespace cpplan;
using test::give;
using test::planned;
using test::small_model;

TEST_CASE("plan: ranks that send alike are a class and the heaviest is told") {
  auto plan = planned(small_model(1, 1, 4), 4);
  plan::measure_engine(plan);
  const auto& communication = *plan.engine_communication;
  Index ranks = 0;
  for (const auto& alike : communication.classes) {
    ranks += alike.ranks;
    CHECK(alike.bytes <= communication.heaviest_class().bytes);
    CHECK(alike.bytes > Bytes{});
  }
  CHECK(ranks == 4);
  CHECK(communication.heaviest_class().stage != 0);  // the ends send to one neighbour alone
  CHECK(communication.heaviest_class().stage != 3);
}

TEST_CASE("plan: closed formulas agree with the meta run by group and collective") {
  struct Row {
    std::string name;
    Index tp, cp, pp, world;
    void (*change)(config::TrainingConfig&);
  };
  using C = config::TrainingConfig;
  const Row rows[] = {
      {"p2p", 1, 4, 1, 4, [](C&) {}},
      {"gather", 2, 2, 1, 4, [](C& c) { give(c.run.cp_comm_type, "all_gather"); }},
      {"a2a", 1, 4, 1, 4, [](C& c) { give(c.run.cp_comm_type, "a2a"); }},
      {"a2a with copied heads", 2, 4, 1, 8, [](C& c) { give(c.run.cp_comm_type, "a2a"); }},
      {"two levels", 1, 4, 1, 4,
       [](C& c) {
         give(c.run.cp_comm_type, "a2a+p2p");
         give(c.megatron.hierarchical_context_parallel_sizes, {2, 2});
       }},
      {"one type a layer", 1, 2, 2, 4,
       [](C& c) {
         give(c.megatron.cp_comm_type, {"p2p", "a2a", "all_gather", "p2p"});
       }},
      {"bf16", 2, 2, 1, 4, [](C& c) { give(c.run.dtype, "bf16"); }},
      {"bf16 a2a", 1, 2, 1, 2,
       [](C& c) {
         give(c.run.dtype, "bf16");
         give(c.run.cp_gradient_dtype, "bf16");
         give(c.run.cp_comm_type, "a2a");
       }},
      {"sharded state", 1, 2, 1, 4, [](C& c) { give(c.run.optimizer_sharding, "optimizer"); }},
      {"recomputed", 2, 2, 2, 8, [](C& c) { give(c.run.recompute, "full"); }},
      {"without SP", 4, 1, 2, 8, [](C& c) { give(c.parallel.sequence_parallel, false); }},
      {"interleaved", 2, 1, 2, 8, [](C& c) { give(c.run.schedule, "interleaved"); }},
      {"uneven", 1, 1, 4, 4, [](C& c) {
         give(c.model.num_hidden_layers, 6);
         give(c.parallel.first_stage_layers, 1);
         give(c.parallel.last_stage_layers, 1);
       }}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    auto c = small_model(row.tp, row.cp, row.pp);
    row.change(c);
    auto plan = planned(c, row.world);
    plan::measure_engine(plan);
    REQUIRE_MESSAGE(plan.engine_communication, plan.no_engine);
    for (const auto& alike : plan.engine_communication->classes)
      for (const auto& kind : alike.traffic) {
        const std::string name = kind.group + " " + kind.collective;
        CAPTURE(name);
        REQUIRE(kind.formula_bytes);
        CHECK_FALSE(kind.formula.empty());
        const auto sent = static_cast<double>(kind.bytes.count);
        // An all-reduce of elements that do not divide, and rows of parameters in whole blocks.
        const bool exact = kind.collective != "all_reduce";
        CHECK(*kind.formula_bytes == doctest::Approx(sent).epsilon(exact ? 1e-12 : 0.02));
      }
  }
}
