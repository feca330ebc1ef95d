#pragma once
// Settings of published training runs, as jobs of the engine.
#include "engine/job.hpp"

namespace cpplan::plan::test {

/// h, layers, heads, KV heads, MLP width, vocabulary.
struct Shape {
  Index hidden, layers, heads, kv_heads, mlp, vocabulary;
};

/// GPT's MLP has two matrices of width 4 h, the engine's three: 8 h / 3 gives the same products.
inline Shape gpt(Index hidden, Index layers, Index heads, Index vocabulary) {
  return {hidden, layers, heads, heads, 8 * hidden / 3 / 64 * 64, vocabulary};
}
inline Shape llama_70b(Index layers) {
  return {8192, layers, 64, 8, 28672, 128256};
}
inline Shape llama_405b(Index layers) {
  return {16384, layers, 128, 8, 53248, 128256};
}

inline engine::Job job_of(const Shape& s, layout::ParallelDims dims, Index sequence,
                          int micro_batches, int chunks = 1) {
  engine::Job job;
  job.model = {.name = "published",
               .hidden_size = s.hidden,
               .num_hidden_layers = s.layers,
               .num_attention_heads = s.heads,
               .num_key_value_heads = s.kv_heads,
               .head_dim = s.hidden / s.heads,
               .intermediate_size = s.mlp,
               .vocab_size = s.vocabulary};
  job.dims = dims;
  job.virtual_stages = chunks;
  job.stage_layers.assign(static_cast<std::size_t>(dims.pp * chunks),
                          static_cast<int>(s.layers) / (dims.pp * chunks));
  job.micro_batches = micro_batches;
  job.capacity = sequence / dims.cp;
  job.dtype = kernels::DType::bf16;
  job.data_parallel.sharding = engine::Sharding::optimizer;
  return job;
}

/// The layers of Llama 3 405B on 16 stages: the first and the last have one less.
inline engine::Job llama_405b_job(layout::ParallelDims dims, Index sequence, int micro_batches) {
  engine::Job job = job_of(llama_405b(126), dims, sequence, micro_batches);
  job.stage_layers.assign(16, 8);
  job.stage_layers.front() = job.stage_layers.back() = 7;
  return job;
}

/// A run of SimuMax's measurements: Megatron-LM on eight B200s, bf16, distributed optimizer, one
/// sequence a micro-batch, nothing computed again, CP by all-to-all.
struct MeasuredRun {
  const char* name;
  Shape shape;
  layout::ParallelDims dims;
  Index sequence;
  int micro_batches;
  double step_milliseconds, peak_gib;
};

inline engine::Job job_of(const MeasuredRun& run) {
  engine::Job job = job_of(run.shape, run.dims, run.sequence, run.micro_batches);
  job.weight_gradients = engine::WeightGradients::separate;
  job.context_parallel.layer_types = {engine::CpCommType::a2a};
  return job;
}

inline const MeasuredRun simumax_runs[] = {
    {"70B L12 tp1 pp2 dp4", llama_70b(12), {1, 1, 2, 4}, 4096, 4, 843.0, 66.55},
    {"70B L12 tp1 pp2 dp4", llama_70b(12), {1, 1, 2, 4}, 4096, 8, 1476.8, 66.55},
    {"70B L12 tp1 pp2 dp4", llama_70b(12), {1, 1, 2, 4}, 4096, 32, 5436.5, 66.55},
    {"70B L12 tp4 dp2", llama_70b(12), {4, 1, 1, 2, true}, 4096, 4, 409.8, 39.07},
    {"70B L12 tp4 dp2", llama_70b(12), {4, 1, 1, 2, true}, 4096, 8, 765.6, 39.07},
    {"70B L12 tp4 dp2", llama_70b(12), {4, 1, 1, 2, true}, 4096, 32, 2964.6, 39.07},
    {"70B L12 tp8", llama_70b(12), {8, 1, 1, 1, true}, 4096, 4, 280.9, 28.29},
    {"70B L12 tp8", llama_70b(12), {8, 1, 1, 1, true}, 4096, 8, 556.7, 28.29},
    {"70B L12 tp8", llama_70b(12), {8, 1, 1, 1, true}, 4096, 32, 2073.7, 28.29},
    {"405B L4 tp1 pp2 dp4", llama_405b(4), {1, 1, 2, 4}, 4096, 4, 1074.6, 87.08},
    {"405B L4 tp1 pp2 dp4", llama_405b(4), {1, 1, 2, 4}, 4096, 8, 1935.4, 87.08},
    {"405B L4 tp1 pp2 dp4", llama_405b(4), {1, 1, 2, 4}, 4096, 32, 7046.4, 87.08},
    {"405B L4 tp2 dp4", llama_405b(4), {2, 1, 1, 4, true}, 4096, 4, 907.3, 81.59},
    {"405B L4 tp2 dp4", llama_405b(4), {2, 1, 1, 4, true}, 4096, 8, 1716.8, 81.59},
    {"405B L4 tp2 dp4", llama_405b(4), {2, 1, 1, 4, true}, 4096, 32, 6604.1, 81.59},
    {"70B L12 tp2 cp4", llama_70b(12), {2, 4, 1, 1, true}, 32768, 4, 1758.0, 68.43},
    {"405B L4 tp1 cp8", llama_405b(4), {1, 8, 1, 1}, 32768, 4, 2003.6, 139.22},
    {"70B L12 tp1 cp8", llama_70b(12), {1, 8, 1, 1}, 131072, 4, 11301.9, 147.99},
};

}  // namespace cpplan::plan::test
