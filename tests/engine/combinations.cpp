#include "engine/combinations.hpp"

namespace cpplan::test {
namespace {
using engine::ContextParallelSettings;
using engine::Recompute;
using layout::ParallelDims;
using layout::Split;

constexpr auto p2p = engine::CpCommType::p2p, all_gather = engine::CpCommType::all_gather,
               a2a = engine::CpCommType::a2a, a2a_p2p = engine::CpCommType::a2a_p2p;
constexpr auto head_tail = Split::head_tail, contiguous = Split::contiguous,
               striped = Split::striped;
constexpr auto none = Recompute::none, selective = Recompute::selective, full = Recompute::full;
constexpr bool sp = true;

using State = engine::DataParallelSettings;  // of parameters and optimizer, over DP x CP
const State whole{};
const State optimizer{.sharding = engine::Sharding::optimizer, .overlap_gradients = true};
const State parameters{.sharding = engine::Sharding::parameters};
const State kept{.sharding = engine::Sharding::parameters, .reshard_after_forward = false};
const State two_copies{.sharding = engine::Sharding::parameters, .replicate = 2};

struct Pipeline {
  int chunks = 1;
  std::vector<int> layers = {};  // of each stage; empty: as many on each
};
const Pipeline one_chunk{}, interleaved{.chunks = 2};

/// What is left out is at its default: no SP, a head-tail ring, 1F1B, nothing computed again, the
/// whole state on each rank. With selective recomputation gradients of weights are made apart.
struct Combination {
  ParallelDims dims;  // TP, CP, PP, DP, SP
  ContextParallelSettings keys = {};
  Pipeline pipeline = {};
  Recompute recompute = none;
  State state = whole;
};

const std::vector<Combination> table = {
    {{2, 1, 1, 1}},
    {{2, 1, 1, 1, sp}, {}, one_chunk, selective},
    {{4, 1, 1, 1}, {}, one_chunk, full},
    {{4, 1, 1, 1, sp}},
    {{1, 2, 1, 1}},
    {{1, 3, 1, 1}, {head_tail, {p2p}}, one_chunk, full},
    {{1, 3, 1, 1}, {contiguous, {all_gather}}, one_chunk, none, optimizer},
    {{1, 4, 1, 1}, {head_tail, {a2a}}, one_chunk, selective},
    {{1, 4, 1, 1}, {striped, {p2p}}},
    {{1, 5, 1, 1}, {head_tail, {all_gather}}, one_chunk, none, parameters},
    {{1, 6, 1, 1}, {head_tail, {a2a_p2p}, 2}},
    {{1, 8, 1, 1}, {contiguous, {a2a}}},
    {{1, 8, 1, 1}, {head_tail, {a2a_p2p}, 4}, one_chunk, full, parameters},
    {{1, 16, 1, 1}},
    {{1, 1, 2, 1}, {}, one_chunk, selective},
    {{1, 1, 2, 1}, {}, interleaved},
    {{1, 1, 2, 1}, {}, {.layers = {1, 3}}, full},
    {{1, 1, 3, 1}, {}, {.layers = {1, 2, 1}}},
    {{1, 1, 4, 1}, {}, one_chunk, full},
    {{1, 1, 1, 2}, {}, one_chunk, selective, optimizer},
    {{1, 1, 1, 4}, {}, one_chunk, none, two_copies},
    {{2, 2, 1, 1}, {head_tail, {all_gather}}, one_chunk, full},
    {{2, 2, 1, 1, sp}},
    {{2, 3, 1, 1, sp}, {striped, {all_gather}}, one_chunk, none, optimizer},
    {{2, 4, 1, 1, sp}, {head_tail, {a2a_p2p}, 2}, one_chunk, selective},
    {{4, 2, 1, 1}, {head_tail, {a2a}}},
    {{4, 2, 1, 1, sp}, {contiguous, {p2p}}, one_chunk, none, parameters},
    {{2, 1, 2, 1, sp}, {}, interleaved, full},
    {{2, 1, 4, 1}, {}, one_chunk, selective},
    {{4, 1, 2, 1, sp}, {}, {.layers = {3, 1}}},
    {{2, 1, 1, 2, sp}},
    {{2, 1, 1, 4}, {}, one_chunk, full, kept},
    {{4, 1, 1, 4, sp}, {}, one_chunk, selective, optimizer},
    {{1, 2, 2, 1}, {head_tail, {p2p}}, interleaved, none, parameters},
    {{1, 2, 4, 1}, {head_tail, {a2a}}},
    {{1, 3, 2, 1}, {head_tail, {all_gather}}, one_chunk, full, optimizer},
    {{1, 4, 2, 1}, {head_tail, {a2a, p2p, all_gather, a2a_p2p}, 2}},
    {{1, 2, 1, 2}, {contiguous, {p2p}}, one_chunk, selective},
    {{1, 3, 1, 4}, {head_tail, {all_gather}}, one_chunk, none, two_copies},
    {{1, 4, 1, 2}, {head_tail, {a2a_p2p}, 2}, one_chunk, full},
    {{1, 1, 2, 2}, {}, interleaved, selective, parameters},
    {{1, 1, 2, 4}, {}, one_chunk, none, optimizer},
    {{1, 1, 4, 2}, {}, one_chunk, full, kept},
    {{2, 2, 2, 1, sp}},
    {{2, 2, 4, 1}, {head_tail, {p2p, all_gather, a2a, p2p}}},
    {{2, 2, 1, 4, sp}, {head_tail, {a2a}}, one_chunk, selective, two_copies},
    {{4, 2, 1, 2, sp}, {head_tail, {all_gather}}, one_chunk, full},
    {{4, 2, 2, 1, sp}},
    {{2, 2, 2, 2, sp}},
    {{2, 2, 2, 2}, {head_tail, {a2a}}, interleaved, full, optimizer},
    {{2, 2, 2, 2, sp}, {contiguous, {all_gather}}, interleaved, selective, parameters},
    {{2, 2, 2, 2, sp}, {head_tail, {a2a_p2p}, 2}, {.layers = {3, 1}}},
};

Experiment experiment_of(const Combination& c, Experiment e) {
  e.dims = c.dims;
  e.context_parallel = c.keys;
  e.virtual_stages = c.pipeline.chunks;
  e.stage_layers = c.pipeline.layers;
  e.recompute = c.recompute;
  e.data_parallel = c.state;
  if (c.recompute == selective) e.weight_gradients = engine::WeightGradients::separate;
  return e;
}

std::vector<Experiment> every(std::size_t stride, const Experiment& base) {
  std::vector<Experiment> experiments;
  for (std::size_t i = 0; i < table.size(); i += stride)
    experiments.push_back(experiment_of(table[i], base));
  return experiments;
}

}  // namespace

std::vector<Experiment> combinations(const Experiment& base) {
  return every(full_run < 30 ? 8 : 1, base);
}

std::vector<Experiment> few_combinations(const Experiment& base) {
  return every(full_run < 30 ? 20 : 8, base);
}

}  // namespace cpplan::test
