// The data of the experiments: rows of odd lengths, packed or not, ordered as training orders them.
#include <numeric>

#include "base/philox.hpp"
#include "data/sample_source.hpp"
#include "engine/experiment.hpp"

namespace cpplan::test {
namespace {

constexpr Index sequence_len = 37;
constexpr Index row_count = 97;
constexpr std::uint64_t seed = 7;

data::Rows rows(Index vocab_size) {
  const auto symbols = static_cast<std::uint32_t>(std::min<Index>(vocab_size, 256));
  data::Rows rows;
  for (std::uint32_t r = 0; r < row_count; ++r) {
    const Index length = 2 + philox(seed, {r, 0, 0, 1})[0] % (sequence_len - 1);
    auto& row = rows.emplace_back();
    std::uint32_t state = r;
    for (std::uint32_t i = 0; i < length; ++i) {
      state = (3 * state + 1 + philox(seed, {r, i, 0, 2})[0] % 5) % symbols;
      row.push_back(static_cast<std::uint8_t>(state));
    }
  }
  return rows;
}

const data::SampleSource& source(const Experiment& e) {
  static std::map<std::pair<bool, Index>, data::SampleSource> sources;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  const auto key = std::make_pair(e.packing, e.vocab_size);
  if (const auto found = sources.find(key); found != sources.end()) return found->second;
  data::SampleOptions options{.seed = seed, .sequence_len = sequence_len, .packing = e.packing};
  return sources.emplace(key, data::SampleSource(rows(e.vocab_size), options)).first->second;
}

Index first_sample(const Experiment& e, Index step, int m, int dp) {
  return (step - 1) * e.global_batch + (Index{m} * e.dims.dp + dp) * e.micro_batch_size;
}

std::vector<layout::DocumentLength> documents(const Experiment& e, Index first) {
  std::vector<layout::DocumentLength> out;
  for (Index i = 0; i < e.micro_batch_size; ++i) {
    for (const Index length : source(e).lengths(first + i)) out.push_back({length, i});
  }
  return out;
}

Index capacity(const Experiment& e) {
  const layout::Split split = e.context_parallel.split;
  Index rows = 0;
  for (Index first = 0; first < e.steps * e.global_batch; first += e.micro_batch_size) {
    const auto map = layout::SequenceMap::padded(split, e.dims.cp, documents(e, first),
                                                 engine::rows_multiple(e.dims, split));
    rows = std::max(rows, map.rows());
  }
  return rows;
}

}  // namespace

engine::MicroBatch micro_batch(const Experiment& e, Index step, int m, int dp) {
  const Index first = first_sample(e, step, m, dp);
  engine::MicroBatch micro{.documents = documents(e, first)};
  micro.first_sample = static_cast<std::uint32_t>(first);
  for (Index i = 0; i < e.micro_batch_size; ++i) {
    const data::Sample sample = source(e).at(first + i);
    micro.tokens.insert(micro.tokens.end(), sample.tokens.begin(), sample.tokens.end());
    micro.labels.insert(micro.labels.end(), sample.labels.begin(), sample.labels.end());
  }
  return micro;
}

engine::Job job_of(const Experiment& e) {
  engine::Job job;
  job.model = {.name = "tiny",
               .hidden_size = 32,
               .num_hidden_layers = 4,
               .num_attention_heads = 8,
               .num_key_value_heads = e.kv_heads,
               .head_dim = 4,
               .intermediate_size = 48,
               .vocab_size = e.vocab_size,
               .max_position_embeddings = 64,
               .initializer_range = 0.05,
               .attention_dropout = e.dropout,
               .hidden_dropout = e.dropout,
               .tie_word_embeddings = e.tie_word_embeddings};
  job.dims = e.dims;
  job.order = e.order;
  job.context_parallel = e.context_parallel;
  job.data_parallel = e.data_parallel;
  job.attention_window = e.attention_window;
  const int virtual_stages = e.dims.pp * e.virtual_stages;
  job.virtual_stages = e.virtual_stages;
  job.stage_layers = e.stage_layers;
  if (e.stage_layers.empty())
    job.stage_layers.assign(static_cast<std::size_t>(virtual_stages), 4 / virtual_stages);
  job.recompute = e.recompute;
  job.weight_gradients = e.weight_gradients;
  job.dtype = e.dtype;
  job.seed = seed;
  job.micro_batch_size = e.micro_batch_size;
  job.micro_batches = e.global_batch / e.dims.dp / e.micro_batch_size;
  job.capacity = capacity(e);
  job.adamw = {.beta2 = 0.95, .weight_decay = 0.1, .max_grad_norm = 1.0};
  return job;
}

double learning_rate_at(const Experiment& e, Index step) {
  return e.learning_rate * std::min(1.0, static_cast<double>(step) / 5.0);
}

}  // namespace cpplan::test
