#include "plan/dimensions.hpp"

#include <algorithm>
#include <cmath>

#include "plan/engine_data_parallel.hpp"
#include "plan/make_plan.hpp"

namespace cpplan::plan {
namespace {
using engine::Sharding;

/// Formulas run in doubles: a step of a 405B model moves 1e14 bytes, far below 2^53.
Bytes rounded(double bytes) {
  return {static_cast<Index>(std::llround(bytes))};
}

double all_gather(Index ranks, double bytes) {
  return static_cast<double>(ranks - 1) / static_cast<double>(ranks) * bytes;
}

double all_reduce(Index ranks, double bytes) {
  return 2 * all_gather(ranks, bytes);
}

/// Bytes of the activations [rows, hidden] of one micro-batch.
double activations(const StepShape& s) {
  return static_cast<double>(s.rows) * static_cast<double>(s.model.hidden_size * s.element_bytes);
}

/// Columns of the keys of a TP rank; ranks beyond the number of heads hold copies.
Index key_columns(const StepShape& s) {
  return std::max<Index>(1, s.model.num_key_value_heads / s.dims.tp) * s.model.head_dim;
}

/// Keys and values [rows, 2 * kv_heads * head_dim] of one layer and TP rank, in elements.
double keys_and_values(const StepShape& s) {
  return static_cast<double>(s.rows) * static_cast<double>(2 * key_columns(s));
}

/// Parameters of a rank of the first stage: norms are whole on every TP rank.
double parameters_of_rank(const StepShape& s) {
  const auto& m = s.model;
  const auto tp = static_cast<double>(s.dims.tp);
  const auto h = static_cast<double>(m.hidden_size);
  const auto q = static_cast<double>(m.num_attention_heads * m.head_dim);
  const auto kv = static_cast<double>(key_columns(s));
  const auto f = static_cast<double>(m.intermediate_size);
  const double layer = (2 * h * q + 3 * h * f) / tp + 2 * h * kv + 2 * h;
  const double vocabulary = h * static_cast<double>(ceil_div(m.vocab_size, s.dims.tp));
  const double embeddings = s.dims.pp > 1 || m.tie_word_embeddings ? 1 : 2;
  const double final_norm = s.dims.pp > 1 ? 0 : h;
  return static_cast<double>(s.stage_layers) * layer + embeddings * vocabulary + final_norm;
}

struct Text {
  const char *splits, *copies, *collective;
};

DimensionRow row(const char* name, Index size, const Text& text) {
  return {name, size, text.splits, text.copies, text.collective, std::nullopt};
}

StepShape shape_of(const engine::Job& job) {
  return {job.model,
          job.dims,
          job.stage_layers.front(),
          job.capacity,
          job.micro_batches,
          kernels::size_of(job.dtype),
          kernels::size_of(kernels::accumulator(job.dtype)),
          job.data_parallel};
}

Text tensor_parallel_text(bool sequence_parallel) {
  if (sequence_parallel)
    return {"attention heads, MLP columns, vocabulary; norms and residuals by tokens",
            "norm weights, inputs", "all-gather and reduce-scatter of activations in every layer"};
  return {"attention heads, MLP columns, vocabulary", "norms, residuals, inputs",
          "all-reduce of activations in every layer"};
}

Text data_parallel_text(Sharding sharding) {
  switch (sharding) {
    case Sharding::none:
      break;
    case Sharding::optimizer:
      return {"the global batch, optimizer state", "weights, gradients",
              "reduce-scatter of gradients and all-gather of parameters over DP x CP"};
    case Sharding::parameters:
      return {
          "the global batch, weights, gradients, optimizer state", "layers under way",
          "all-gather of parameters for each pass and reduce-scatter of gradients over DP x CP"};
  }
  return {"the global batch", "weights", "all-reduce of gradients over DP x CP"};
}

}  // namespace

// With sequence parallelism a block gathers its input and scatters its output forward; backward it
// gathers the gradient and, since inputs are kept sharded, the input again, and scatters the
// input's gradient: 5 collectives a block, 2 blocks a layer. Without: one all-reduce a block and
// direction. Embedding (and head, where the first stage is the last) add one block's end each.
Bytes tensor_parallel_bytes(const StepShape& s) {
  const Index t = s.dims.tp;
  const double ends = s.dims.pp > 1 ? 1 : 2;
  const double layers = static_cast<double>(s.stage_layers);
  const double of_micro_batch = s.dims.sequence_parallel
                                    ? (10 * layers + 2 * ends) * all_gather(t, activations(s))
                                    : (4 * layers + ends) * all_reduce(t, activations(s));
  return rounded(of_micro_batch * static_cast<double>(s.micro_batches));
}

// Keys and values go round once forward and once backward, c - 1 hops each; their gradients follow
// in c hops, the last of which brings them home.
Bytes context_parallel_bytes(const StepShape& s) {
  const auto hops = static_cast<double>(s.dims.cp - 1);
  if (s.dims.cp == 1) return {};
  const double of_layer = keys_and_values(s) * (2 * hops * static_cast<double>(s.element_bytes) +
                                                static_cast<double>(s.dims.cp * s.sum_bytes));
  return rounded(of_layer * static_cast<double>(s.stage_layers * s.micro_batches));
}

// The first stage sends activations on; the last sends as many bytes of gradients back, those
// between send both.
Bytes pipeline_bytes(const StepShape& s) {
  if (s.dims.pp == 1) return {};
  const double shards = s.dims.sequence_parallel ? s.dims.tp : 1;
  return rounded(activations(s) / shards * static_cast<double>(s.micro_batches));
}

Bytes data_parallel_bytes(const StepShape& s) {
  const Index ranks = Index{s.dims.dp} * s.dims.cp, copies = s.data_parallel.replicate;
  const double parameters = parameters_of_rank(s) * static_cast<double>(s.element_bytes);
  const double gradients = parameters_of_rank(s) * static_cast<double>(s.sum_bytes);
  if (s.data_parallel.sharding == Sharding::none) return rounded(all_reduce(ranks, gradients));
  const Index shards = ranks / copies;
  const double gathered = all_gather(shards, parameters), scattered = all_gather(shards, gradients);
  const double over_copies = all_reduce(copies, gradients / static_cast<double>(shards));
  if (s.data_parallel.sharding == Sharding::optimizer)
    return rounded(gathered + scattered + over_copies);
  return rounded(static_cast<double>(s.micro_batches) * (2 * gathered + scattered) + over_copies);
}

std::vector<DimensionRow> dimension_table(const Plan& plan) {
  const auto& d = plan.layout.dims;
  const auto data_parallel = data_parallel_of(plan);
  std::vector<DimensionRow> table = {
      row("tp", d.tp, tensor_parallel_text(d.sequence_parallel)),
      row("cp", d.cp,
          {"each sequence into chunks", "weights", "ring of keys and values in every layer"}),
      row("pp", d.pp,
          {"layers into stages", "nothing", "activations and gradients between neighbours"}),
      row("dp", d.dp,
          data_parallel_text(data_parallel ? data_parallel->sharding : Sharding::none))};
  const auto job = make_job(plan);
  if (!job) return table;
  const StepShape shape = shape_of(*job);
  table[0].bytes_per_step = tensor_parallel_bytes(shape);
  table[1].bytes_per_step = context_parallel_bytes(shape);
  table[2].bytes_per_step = pipeline_bytes(shape);
  table[3].bytes_per_step = data_parallel_bytes(shape);
  return table;
}

}  // namespace cpplan::plan
