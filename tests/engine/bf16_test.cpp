// Mixed precision: values in bf16, masters, gradients and sums in fp32. Rounding differs between
// layouts here as it does in fp32, only more, so what is bounded is how much further from the fp32
// run a layout is than one bf16 rank; what is equal bit for bit in fp32 stays so.
#include <doctest/doctest.h>

#include <algorithm>

#include "engine/experiment.hpp"
#include "kernels/cpu/cpu_ops.hpp"

namespace cpplan::test {
namespace {

using engine::CpCommType;
using engine::GradientTransport;

const BackendFactory cpu = [](kernels::Trace& trace) { return kernels::make_cpu_ops(trace); };

Experiment in(kernels::DType dtype) {
  return {.dtype = dtype};
}

Experiment bf16(const layout::ParallelDims& dims) {
  Experiment experiment = in(kernels::DType::bf16);
  experiment.dims = dims;
  return experiment;
}

Experiment with_attention(Experiment experiment, CpCommType type, GradientTransport gradients) {
  experiment.context_parallel.layer_types = {type};
  experiment.context_parallel.gradients = gradients;
  return experiment;
}

std::vector<Experiment> layouts() {
  std::vector<Experiment> all = {bf16({2, 1, 1, 1, false}), bf16({4, 1, 1, 1, true}),
                                 bf16({1, 2, 1, 1}),        bf16({1, 3, 1, 1}),
                                 bf16({1, 1, 2, 2}),        bf16({2, 2, 2, 1, true})};
  for (const CpCommType type : {CpCommType::p2p, CpCommType::all_gather, CpCommType::a2a})
    all.push_back(with_attention(bf16({1, type == CpCommType::p2p ? 3 : 2, 1, 1}), type,
                                 GradientTransport::values));
  for (const auto sharding : {engine::Sharding::optimizer, engine::Sharding::parameters}) {
    all.push_back(bf16({1, 2, 1, 2}));
    all.back().data_parallel.sharding = sharding;
  }
  return all;
}

void check_same_bits(const Outcome& actual, const Outcome& expected) {
  REQUIRE(actual.failure == "");
  CHECK(actual.losses == expected.losses);
  CHECK(actual.grad_norms == expected.grad_norms);
  CHECK(actual.final_weights == expected.final_weights);
  CHECK(actual.broken_promises == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("bf16: no layout is further from fp32 than twice one rank") {
  const Outcome fp32 = train(in(kernels::DType::f32), cpu);
  const Outcome one = train(in(kernels::DType::bf16), cpu);
  REQUIRE(one.failure == "");
  const double gradients = distance(one.gradients, fp32.gradients).value;
  const double losses = curve_distance(one.losses, fp32.losses);
  CHECK(gradients < 0.05);
  // The first losses differ by the luck of some roundings; the sanitizer builds take no more steps.
  const bool long_enough = one.losses.size() >= 10;
  CHECK(one.broken_promises == std::vector<std::string>{});
  for (const Experiment& experiment : layouts()) {
    CAPTURE(name_of(experiment));
    const Outcome outcome = train(experiment, cpu);
    REQUIRE(outcome.failure == "");
    const auto [gradient_distance, worst_parameter] = distance(outcome.gradients, fp32.gradients);
    CAPTURE(worst_parameter);
    CHECK(gradient_distance <= 2 * gradients);
    if (long_enough) CHECK(curve_distance(outcome.losses, fp32.losses) <= 2 * losses);
    CHECK(outcome.broken_promises == std::vector<std::string>{});
  }
}

TEST_CASE("bf16: pipeline degree and schedule and recompute change no bit") {
  Experiment base = bf16({1, 2, 1, 1});
  base.steps = std::min(full_run, 8);
  const Outcome one = train(base, cpu);
  REQUIRE(one.failure == "");
  Experiment staged = base, chunked = base, again = base;
  staged.dims.pp = 4;
  chunked.dims.pp = 2, chunked.virtual_stages = 2;
  check_same_bits(train(staged, cpu), one);
  check_same_bits(train(chunked, cpu), one);
  for (const auto recompute : {engine::Recompute::selective, engine::Recompute::full}) {
    again.recompute = recompute;
    check_same_bits(train(again, cpu), one);
  }
}

namespace {

/// Embedding and output, and of each layer attention, MLP and two norms; the last norm.
Index parameters_of(const model::ModelSpec& m) {
  const Index h = m.hidden_size;
  const Index heads = m.num_attention_heads + m.num_key_value_heads;
  const Index layer = 2 * h * heads * m.head_dim + 3 * h * m.intermediate_size + 2 * h;
  return 2 * m.vocab_size * h + m.num_hidden_layers * layer + h;
}

/// What `bytes` holds beyond `exact`, which is alignment.
bool holds(Bytes bytes, Index exact) {
  constexpr Index units = 7, rows_a_unit = 3;
  return bytes.count >= exact &&
         bytes.count <= exact + units * rows_a_unit * kernels::Arena::alignment;
}

}  // namespace

TEST_CASE("bf16: two bytes a weight and sixteen for gradient and master and moments") {
  const engine::Job job = job_of(in(kernels::DType::bf16));
  const auto memory = engine::meta_run(job, {}).memory;
  const Index parameters = parameters_of(job.model);
  CHECK(holds(memory.parameters, 2 * parameters));
  CHECK(holds(memory.gradients, 4 * parameters));
  CHECK(holds(memory.optimizer, 12 * parameters));
}

namespace {

Bytes sent(const Experiment& experiment, const char* group, const char* collective) {
  return engine::meta_run(job_of(experiment), {}).traffic.at({group, collective}).sent;
}

}  // namespace

TEST_CASE("bf16: what travels is half as much and gradients of keys if asked") {
  const layout::ParallelDims ring{1, 3, 1, 1};
  Experiment fp32 = in(kernels::DType::f32);
  fp32.dims = ring;
  const auto sums = with_attention(bf16(ring), CpCommType::p2p, GradientTransport::sums);
  const auto values = with_attention(bf16(ring), CpCommType::p2p, GradientTransport::values);
  // of 2 (C - 1) hops of keys and C of their gradients: 4 at 4 bytes and 3 at 4, 4 or 2
  const Index hop = sent(fp32, "cp", "exchange").count / 28;
  CHECK(sent(sums, "cp", "exchange").count == hop * (4 * 2 + 3 * 4));
  CHECK(sent(values, "cp", "exchange").count == hop * (4 * 2 + 3 * 2));

  Experiment split = in(kernels::DType::f32), rounded = in(kernels::DType::bf16);
  split.dims = rounded.dims = {2, 1, 1, 1, true};
  CHECK(sent(split, "tp", "reduce_scatter").count ==
        2 * sent(rounded, "tp", "reduce_scatter").count);
}

}  // namespace cpplan::test
