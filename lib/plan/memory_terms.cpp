#include "plan/memory_terms.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cpplan::plan {
namespace {

/// Chunks of a rank in flight at its peak: the warm-up and the one that then runs.
Index interleaved_chunks(const MemorySettings& m, Index stage) {
  const CheckedCount warm_up =
      CheckedCount(2) * (m.pp - stage - 1) + CheckedCount(m.virtual_stages - 1) * m.pp + Index{1};
  const CheckedCount all = CheckedCount(m.micro_batches) * m.virtual_stages;
  const auto most = all.value();
  const auto wanted = warm_up.value();
  if (!wanted) return most.value_or(1);
  return most ? std::min(*wanted, *most) : *wanted;
}

}  // namespace

std::string count_text(CheckedCount count) {
  return count.value() ? with_thousands(*count.value()) : "beyond 64 bits";
}

StageShape stage_shape(const model::ModelSpec& model, const MemorySettings& m,
                       const StageLayers& layers) {
  StageShape shape;
  shape.index = layers.stage;
  shape.routed_layers = model::routed_layers(model, layers.first, layers.first + layers.count);
  shape.dense_layers = layers.count - shape.routed_layers;
  shape.is_first = layers.stage == 0;
  shape.is_last = layers.is_last;
  shape.chunks = m.pp > 1 ? m.virtual_stages : 1;
  const Index stages_behind = std::max<Index>(1, m.pp - layers.stage);
  shape.chunks_in_flight = shape.chunks > 1 ? interleaved_chunks(m, layers.stage)
                                            : std::min(stages_behind, m.micro_batches);
  return shape;
}

void TermList::add(MemoryKind kind, std::string name, CheckedCount bytes, std::string formula) {
  total_ += bytes;
  if (const auto count = bytes.value(); count && *count != 0)
    terms_.push_back({kind, std::move(name), std::move(formula), Bytes{*count}});
}

void TermList::append(const TermList& other) {
  total_ += other.total_;
  terms_.insert(terms_.end(), other.terms_.begin(), other.terms_.end());
}

}  // namespace cpplan::plan
