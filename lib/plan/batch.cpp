#include "plan/batch.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace cpplan::plan {
namespace {

constexpr Index default_sequence_len = 512;  // axolotl, utils/schemas/config.py

/// The key stands in the file, with null as its value: its default is gone.
bool is_null(const config::Setting<Index>& setting) {
  return !setting.given() && setting.key_span.placed();
}

Index accumulation(const config::BatchSettings& b, Index micro_batch_size) {
  if (is_count(b.gradient_accumulation_steps)) return *b.gradient_accumulation_steps;
  if (is_null(b.gradient_accumulation_steps) && is_count(b.batch_size))
    return std::max<Index>(1, *b.batch_size / micro_batch_size);
  return 1;
}

}  // namespace

Batch make_batch(const config::TrainingConfig& config, Index data_parallel_size) {
  const auto& b = config.batch;
  Batch batch;
  batch.micro_batch_size = is_count(b.micro_batch_size) ? *b.micro_batch_size : 1;
  batch.gradient_accumulation_steps = accumulation(b, batch.micro_batch_size);
  batch.eval_batch_size = is_count(b.eval_batch_size) ? *b.eval_batch_size : batch.micro_batch_size;
  batch.effective_world_size = data_parallel_size;
  batch.sequence_len = is_count(b.sequence_len) && *b.sequence_len <= longest_sequence
                           ? *b.sequence_len
                           : default_sequence_len;

  const auto of_rank = is_count(b.batch_size) ? b.batch_size.value
                                              : checked_product(batch.micro_batch_size,
                                                                batch.gradient_accumulation_steps);
  const auto size = of_rank ? checked_multiply(*of_rank, data_parallel_size) : std::nullopt;
  batch.batch_size = size.value_or(0);
  batch.tokens_per_step = checked_multiply(batch.batch_size, batch.sequence_len).value_or(0);
  return batch;
}

std::optional<Index> rows_per_step(const Batch& batch) {
  return checked_product(batch.micro_batch_size, batch.gradient_accumulation_steps,
                         batch.effective_world_size);
}

GlobalBatch reach_global_batch(const Batch& batch, Index wanted) {
  GlobalBatch answer{wanted, std::nullopt, {}};
  const auto unit = checked_multiply(batch.micro_batch_size, batch.effective_world_size);
  if (!unit) return answer;
  const Index below = wanted / *unit;
  if (below >= 1 && wanted % *unit == 0) {
    answer.gradient_accumulation_steps = below;
    return answer;
  }
  if (below >= 1) answer.nearest.push_back(below * *unit);
  if (const auto above = checked_multiply(std::max<Index>(0, below) + 1, *unit))
    answer.nearest.push_back(*above);
  return answer;
}

}  // namespace cpplan::plan
