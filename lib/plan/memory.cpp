#include "plan/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/checked_count.hpp"
#include "base/text.hpp"
#include "cluster/gpus.hpp"
#include "model/resolve.hpp"
#include "plan/memory_terms.hpp"

namespace cpplan::plan {
namespace {

bool is_megatron(const Plan& plan) {
  return plan.config.dialect == config::Dialect::megatron;
}

/// Tokens of a micro-batch on a rank, with the padding that the framework adds.
std::optional<Index> tokens_of_rank(const Plan& plan) {
  const Index padded = std::max(plan.batch.sequence_len, plan.framework_layout.padded_sequence_len);
  return checked_multiply(plan.batch.micro_batch_size, ceil_div(padded, plan.layout.dims.cp));
}

std::optional<MemorySettings> settings_of(const Plan& plan) {
  MemorySettings s =
      is_megatron(plan) ? megatron_memory_settings(plan) : axolotl_memory_settings(plan);
  const auto tokens = tokens_of_rank(plan);
  if (!tokens) return std::nullopt;
  s.tokens = *tokens;
  s.row_tokens = std::max(plan.batch.sequence_len, plan.framework_layout.padded_sequence_len);
  s.micro_batches = std::max<Index>(1, s.micro_batches);
  return s;
}

/// Stages that can be the heaviest: the ends, and of those between the first of each make-up, which
/// keeps the most micro-batches in flight.
std::vector<StageShape> distinct_stages(const model::ModelSpec& model, const MemorySettings& s,
                                        const std::vector<int>& stage_layers) {
  std::vector<StageShape> stages;
  std::set<std::pair<Index, Index>> seen;
  StageLayers at;
  const int last = static_cast<int>(stage_layers.size()) - 1;
  for (at.stage = 0; at.stage <= last; ++at.stage, at.first += at.count) {
    at.count = stage_layers[static_cast<std::size_t>(at.stage)];
    at.is_last = at.stage == last;
    const StageShape shape = stage_shape(model, s, at);
    const bool end = shape.is_first || shape.is_last;
    if (end || seen.insert({shape.dense_layers, shape.routed_layers}).second)
      stages.push_back(shape);
  }
  return stages;
}

struct StageMemory {
  int stage = 0;
  TermList terms;
  std::string peak;
};

StageMemory stage_memory(const model::ModelSpec& model, const MemorySettings& s,
                         const StageShape& stage) {
  const RankParameters parameters = rank_parameters(model, s, stage);
  StageMemory memory;
  memory.stage = stage.index;
  memory.terms = state_terms(s, parameters);
  memory.terms.append(activation_terms(model, s, stage));
  const TermList loss = loss_terms(model, s, stage, parameters);
  const TermList backward = backward_terms(model, s, stage, parameters);
  const bool loss_is_larger =
      loss.total().value().value_or(0) > backward.total().value().value_or(0);
  memory.peak = loss_is_larger ? "loss" : "backward of a layer";
  memory.terms.append(loss_is_larger ? loss : backward);
  // An uncountable phase makes the sum uncountable, whichever is larger.
  if (!loss.total().value() || !backward.total().value())
    memory.terms.add(MemoryKind::transient, "", std::optional<Index>(), "");
  return memory;
}

Bytes& sum_of(FrameworkMemory& memory, MemoryKind kind) {
  switch (kind) {
    case MemoryKind::parameters:
      return memory.parameters;
    case MemoryKind::gradients:
      return memory.gradients;
    case MemoryKind::optimizer:
      return memory.optimizer;
    case MemoryKind::activations:
      return memory.activations;
    case MemoryKind::transient:
      break;
  }
  return memory.transient;
}

void take_terms(FrameworkMemory& memory, const TermList& list) {
  memory.terms = list.terms();
  std::ranges::stable_sort(memory.terms, std::greater<>(), &MemoryTerm::bytes);
  for (const MemoryTerm& term : memory.terms) {
    sum_of(memory, term.kind) += term.bytes;
    memory.total += term.bytes;
  }
}

std::string sharding_text(const MemorySettings& s) {
  if (s.sharding == Sharding::none) return s.framework == "axolotl" ? s.sharding_name : "none";
  return fmt::format("{} over {} ranks", s.sharding_name, with_thousands(s.shards));
}

Index trainable_parameters(const model::ModelSpec& model, const MemorySettings& s) {
  if (s.adapter.trains_everything()) return model::parameter_count(model);
  MemorySettings one_rank = s;
  one_rank.tp = one_rank.pp = 1;
  one_rank.experts = {};
  StageShape whole;
  whole.routed_layers = model::routed_layers(model, 0, model.num_hidden_layers);
  whole.dense_layers = model.num_hidden_layers - whole.routed_layers;
  const RankParameters parameters = rank_parameters(model, one_rank, whole);
  return (parameters.layer_adapters + parameters.saved).value().value_or(0);
}

int rank_of_stage(const Plan& plan, int stage) {
  layout::Coordinates at;
  at[layout::Dim::pp] = stage;
  return layout::Ranks(plan.layout.dims, plan.layout.order).rank(at);
}

void judge(const Plan& plan, FrameworkMemory& memory) {
  const auto& name = plan.config.cluster.gpu;
  const auto gpu = name.given() ? cluster::find_gpu(*name) : std::nullopt;
  if (!gpu) return;
  memory.gpu = gpu->name;
  memory.gpu_bytes = gpu->usable;
  memory.fit = memory.total <= gpu->usable ? Fit::fits : Fit::exceeds;
}

}  // namespace

std::optional<FrameworkMemory> framework_memory(const Plan& plan) {
  if (!plan.model || plan.layout.stage_layers.empty()) return std::nullopt;
  const auto settings = settings_of(plan);
  if (!settings) return std::nullopt;
  std::optional<StageMemory> heaviest;
  for (const StageShape& stage :
       distinct_stages(*plan.model, *settings, plan.layout.stage_layers)) {
    auto memory = stage_memory(*plan.model, *settings, stage);
    if (!memory.terms.total().value()) return std::nullopt;
    if (!heaviest || *memory.terms.total().value() > *heaviest->terms.total().value())
      heaviest = std::move(memory);
  }
  FrameworkMemory answer;
  answer.framework = settings->framework;
  answer.sharding = sharding_text(*settings);
  answer.peak = heaviest->peak;
  answer.assumptions = settings->assumptions;
  take_terms(answer, heaviest->terms);
  answer.trainable_parameters = trainable_parameters(*plan.model, *settings);
  answer.heaviest_stage = heaviest->stage;
  answer.heaviest_rank = rank_of_stage(plan, heaviest->stage);
  return answer;
}

std::optional<Bytes> logits_fp32_bytes(const Plan& plan) {
  const auto settings = settings_of(plan);
  const Index vocabulary = model::known_dimensions(plan.config).vocab_size;
  if (!settings || vocabulary < 1 || settings->loss == Loss::fused_linear) return std::nullopt;
  const Index cut = settings->loss == Loss::vocab_parallel ? settings->tp : 1;
  const auto bytes = (CheckedCount(4) * settings->tokens * divided_up(vocabulary, cut)).value();
  return bytes ? std::optional(Bytes{*bytes}) : std::nullopt;
}

void estimate_framework_memory(Plan& plan) {
  plan.logits_fp32_bytes_per_rank = logits_fp32_bytes(plan);
  plan.framework_memory = framework_memory(plan);
  if (plan.framework_memory) judge(plan, *plan.framework_memory);
}

}  // namespace cpplan::plan
