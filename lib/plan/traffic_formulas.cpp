#include "plan/traffic_formulas.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/model_tensors.hpp"
#include "plan/engine_stage.hpp"

namespace cpplan::plan {
namespace {
using engine::CpCommType;
using FormulaRows = std::vector<TrafficFormula>;

double share(Index ranks) {
  return static_cast<double>(ranks - 1) / static_cast<double>(ranks);
}

/// Bytes that all micro-batches of a step add up to: count * (n-1)/n * elements * bytes.
struct Term {
  double count = 0;    // transfers of a micro-batch
  Index elements = 0;  // of one
  Index bytes = 0;     // of an element
};

double sum(const Term& t) {
  return t.count * static_cast<double>(t.elements * t.bytes);
}

std::string text_of(const Term& t, Index micro_batches) {
  return fmt::format("{} micro-batches * {} * {} elements * {} bytes", micro_batches, t.count,
                     t.elements, t.bytes);
}

/// Adds to the row of the group and collective, which is made where there is none.
void add(FormulaRows& rows, std::string_view group, std::string_view collective, double bytes,
         const std::string& text) {
  if (bytes == 0) return;
  const auto found = std::ranges::find_if(rows, [&](const TrafficFormula& row) {
    return row.group == group && row.collective == collective;
  });
  if (found == rows.end()) {
    rows.push_back({std::string(group), std::string(collective), bytes, text});
  } else {
    found->bytes += bytes;
    found->text += " + " + text;
  }
}

class Formulas {
 public:
  Formulas(const engine::Job& job, int stage) : job_(job), stage_(stage_of(job, stage)) {}

  FormulaRows all() {
    tensor_parallel();
    context_parallel();
    pipeline();
    data_parallel();
    control();
    return std::move(rows_);
  }

 private:
  Index element_bytes() const { return kernels::size_of(job_.dtype); }
  Index sum_bytes() const { return kernels::size_of(kernels::accumulator(job_.dtype)); }
  /// Of gradients of queries, keys and values between CP ranks.
  Index travel_bytes() const {
    const bool rounded = job_.context_parallel.gradients == engine::GradientTransport::values;
    return rounded ? element_bytes() : sum_bytes();
  }
  /// Forward passes of a layer: two where backward begins with another.
  int forwards() const { return job_.recompute == engine::Recompute::full ? 2 : 1; }
  Index activations() const { return job_.capacity * job_.model.hidden_size; }
  bool sequence_parallel() const { return job_.dims.sequence_parallel && job_.dims.tp > 1; }

  /// `ranks` ranks send (n-1)/n of the term's bytes, `passes` times, in every micro-batch.
  void each_micro_batch(std::string_view group, std::string_view collective, Index ranks,
                        double passes, const Term& term) {
    const double bytes = passes * share(ranks) * sum(term) * job_.micro_batches;
    add(rows_, group, collective, bytes,
        fmt::format("{}({}-1)/{} * {}", passes == 2 ? "2" : "", ranks, ranks,
                    text_of(term, job_.micro_batches)));
  }

  // A block gathers its input and scatters its output forward; backward it gathers the gradient
  // and, since inputs are kept sharded, the input again, and scatters the input's gradient. The
  // embedding and the head have one end of a block each (Korthikanti et al., arXiv 2205.05198).
  void tensor_parallel() {
    const Index t = job_.dims.tp;
    if (t == 1) return;
    const double blocks = 2.0 * stage_.layers();
    const double ends = (stage_.first ? 1 : 0) + (stage_.last ? 1 : 0);
    const Term one{.elements = activations(), .bytes = element_bytes()};
    const auto times = [&](double count) { return Term{count, one.elements, one.bytes}; };
    if (sequence_parallel()) {
      each_micro_batch("tp", "all_gather", t, 1, times(blocks * (forwards() + 2) + ends));
      each_micro_batch("tp", "reduce_scatter", t, 1, times(blocks * (forwards() + 1) + ends));
    } else {
      each_micro_batch("tp", "all_reduce", t, 2, times(blocks * (forwards() + 1) + ends));
    }
    if (stage_.last)  // the maximum, the sum of exponentials and the label's logit of each row
      each_micro_batch("tp", "all_reduce", t, 2, {3, job_.capacity, sum_bytes()});
    if (sequence_parallel()) norm_gradients(t);
  }

  void norm_gradients(Index t) {
    const Index norms = 2 * stage_.layers() + (stage_.last ? 1 : 0);
    const Index elements = norms * job_.model.hidden_size / engine::state_shards(job_);
    once_a_step("tp", "all_reduce", t, 2, elements, sum_bytes());
  }

  void context_parallel() {
    if (job_.dims.cp == 1) return;
    for (const auto type :
         {CpCommType::p2p, CpCommType::all_gather, CpCommType::a2a, CpCommType::a2a_p2p}) {
      const Index layers = stage_.layers_of(type, job_);
      if (layers == 0) continue;
      switch (type) {
        case CpCommType::p2p:
          ring("cp", job_.dims.cp, layers, keys_and_values());
          break;
        case CpCommType::all_gather:
          gather(layers);
          break;
        case CpCommType::a2a:
          exchange_heads("cp", job_.dims.cp, layers);
          break;
        case CpCommType::a2a_p2p:
          exchange_heads("cp_inner", job_.context_parallel.inner_size, layers);
          ring("cp_outer", job_.dims.cp / job_.context_parallel.inner_size, layers,
               exchanged_keys_and_values());
          break;
      }
    }
  }

  /// Of a TP rank; ranks share one where there are fewer.
  Index kv_heads() const {
    return std::max<Index>(1, job_.model.num_key_value_heads / job_.dims.tp);
  }
  /// Elements of the keys and values of a rank and layer.
  Index keys_and_values() const { return job_.capacity * 2 * kv_heads() * job_.model.head_dim; }

  // Keys and values take n-1 hops forward and n-1 backward; their gradients follow in n hops, the
  // last of which brings them home.
  void ring(std::string_view group, Index n, Index layers, Index elements) {
    const double hops = static_cast<double>(n - 1);
    const Term keys{static_cast<double>(layers * (forwards() + 1)) * hops, elements,
                    element_bytes()};
    const Term gradients{static_cast<double>(layers * n), elements, travel_bytes()};
    if (n == 1) return;
    for (const Term& term : {keys, gradients})
      add(rows_, group, "exchange", sum(term) * job_.micro_batches,
          text_of(term, job_.micro_batches));
  }

  void gather(Index layers) {
    const Index n = job_.dims.cp, whole = n * keys_and_values();
    each_micro_batch("cp", "all_gather", n, 1,
                     {static_cast<double>(layers * (forwards() + 1)), whole, element_bytes()});
    each_micro_batch("cp", "reduce_scatter", n, 1,
                     {static_cast<double>(layers), whole, travel_bytes()});
  }

  /// Columns of a rank's share of the heads, which ranks share where there are fewer.
  Index exchanged_heads(Index n) const {
    return job_.model.num_attention_heads / job_.dims.tp / n * job_.model.head_dim;
  }
  Index exchanged_kv_heads(Index n) const {
    return std::max<Index>(1, kv_heads() / n) * job_.model.head_dim;
  }
  Index exchanged_keys_and_values() const {
    const Index n = job_.context_parallel.inner_size;
    return job_.capacity * n * 2 * exchanged_kv_heads(n);
  }

  // Queries, keys and values go out and the result comes back; backward the gradient of the result
  // goes out, and those of queries, keys and values come back.
  void exchange_heads(std::string_view group, Index n, Index layers) {
    const Index rows = job_.capacity * n;
    const Index result = rows * exchanged_heads(n);
    const Index inputs = result + 2 * rows * exchanged_kv_heads(n);
    const auto forward = static_cast<double>(layers * forwards());
    const auto backward = static_cast<double>(layers);
    each_micro_batch(group, "exchange", n, 1, {forward, inputs + result, element_bytes()});
    each_micro_batch(group, "exchange", n, 1, {backward, result, element_bytes()});
    each_micro_batch(group, "exchange", n, 1, {backward, inputs, travel_bytes()});
  }

  // Every chunk but the model's last sends activations on, every one but its first gradients back.
  void pipeline() {
    if (job_.dims.pp == 1) return;
    const Index chunks = job_.virtual_stages;
    const Index sent = 2 * chunks - (stage_.first ? 1 : 0) - (stage_.last ? 1 : 0);
    const Index shards = sequence_parallel() ? job_.dims.tp : 1;
    const Term term{static_cast<double>(sent), activations() / shards, element_bytes()};
    add(rows_, "pp", "exchange", sum(term) * job_.micro_batches, text_of(term, job_.micro_batches));
  }

  // Gradients are summed over DP x CP. Where state is sharded each rank gets the sum of its shard
  // and gives back its parameters; sharded parameters are gathered for forward and backward of
  // every micro-batch, but for those that are still there, and their gradients given up as often.
  void data_parallel() {
    using engine::Sharding;
    const auto& settings = job_.data_parallel;
    const Index n = Index{job_.dims.dp} * job_.dims.cp, shards = engine::state_shards(job_);
    const Index parameters = stage_.parameters(job_);
    if (settings.sharding == Sharding::none) {
      once_a_step("dp_cp", "all_reduce", n, 2, parameters, sum_bytes());
    } else {
      const bool whole = settings.sharding == Sharding::optimizer;
      const double reductions = whole ? 1 : job_.micro_batches;
      const double gathers =
          whole ? 1 : job_.micro_batches * (settings.reshard_after_forward ? 2 : 0);
      once_a_step("dp_shard_cp", "reduce_scatter", shards, reductions, parameters, sum_bytes());
      once_a_step("dp_shard_cp", "all_gather", shards, std::max(1.0, gathers), parameters,
                  element_bytes());
      once_a_step("dp_replicate", "all_reduce", settings.replicate, 2, parameters / shards,
                  sum_bytes());
    }
    shared_parameters(shards);
  }

  // Key and value weights of heads that TP ranks share, and the embedding that the last stage
  // shares with the first.
  void shared_parameters(Index shards) {
    const auto& m = job_.model;
    const Index copies = std::max<Index>(1, job_.dims.tp / m.num_key_value_heads);
    once_a_step("tp_kv", "all_reduce", copies, 2,
                stage_.layers() * 2 * m.head_dim * m.hidden_size / shards, sum_bytes());
    const bool ties = m.tie_word_embeddings && stage_.first != stage_.last;
    if (ties)
      once_a_step("embedding", "all_reduce", 2, 2,
                  m.hidden_size * ceil_div(m.vocab_size, job_.dims.tp) / shards, sum_bytes());
  }

  void once_a_step(std::string_view group, std::string_view collective, Index ranks, double passes,
                   Index elements, Index bytes) {
    if (ranks == 1) return;
    add(rows_, group, collective, passes * share(ranks) * static_cast<double>(elements * bytes),
        fmt::format("{}({}-1)/{} * {} elements * {} bytes",
                    passes == 1 ? "" : fmt::format("{}", passes), ranks, ranks, elements, bytes));
  }

  // A slot for the norm of every tensor and TP shard, two for the loss of every replica, and two
  // for what ranks vote on.
  void control() {
    const Index world = job_.dims.world();
    if (world == 1) return;
    const Index slots =
        engine::tensor_count(job_.model) * job_.dims.tp * engine::state_shards(job_) +
        2 * Index{job_.dims.dp} * job_.dims.cp +
        (job_.snapshots == engine::Snapshots::host ? 2 : 0);
    add(rows_, "world", "all_reduce", 2 * share(world) * static_cast<double>(8 * slots),
        fmt::format("2({}-1)/{} * {} slots * 8 bytes", world, world, slots));
  }

  const engine::Job& job_;
  EngineStage stage_;
  FormulaRows rows_;
};

}  // namespace

std::vector<TrafficFormula> traffic_formulas(const engine::Job& job, int stage) {
  return Formulas(job, stage).all();
}

}  // namespace cpplan::plan
