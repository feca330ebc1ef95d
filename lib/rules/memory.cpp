// What of the memory a config alone can tell: the logits of the output layer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "model/resolve.hpp"
#include "plan/degrees.hpp"
#include "plan/make_plan.hpp"
#include "rules/areas.hpp"
#include "rules/fitting.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using plan::Plan;

/// One fp32 copy above this outweighs the layers of most models; a loss holds two or three.
constexpr Index noticeable = Index{4} << 30;

void check_logits(const Plan& plan, Diagnostics& findings) {
  const auto& bytes = plan.logits_fp32_bytes_per_rank;
  if (!bytes || bytes->count < noticeable) return;
  const auto& length = plan.config.batch.sequence_len;
  const auto d = plan::requested_degrees(plan.config);
  const Index vocabulary = model::known_dimensions(plan.config).vocab_size;
  Report("CP402", length.given() ? length.span : file_of(plan),
         fmt::format("one fp32 copy of the logits takes {} on every rank", human_bytes(*bytes)))
      .why(fmt::format(
          "micro {} * {} tokens / CP {}, each over {} words in 4 bytes, are {} bytes, and "
          "a loss holds two or three copies: they, not attention, set the peak",
          plan.batch.micro_batch_size, plan.batch.sequence_len, d.cp, vocabulary,
          with_thousands(bytes->count)))
      .help(is_megatron(plan)
                ? "use a larger context_parallel_size or tensor_model_parallel_size"
                : "use a loss that never holds them whole: plugins with "
                  "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin or Liger's fused "
                  "linear cross-entropy")
      .help("or more context-parallel ranks")
      .see(plan::context_parallel_setting(plan.config))
      .see(plan.config.model.vocab_size)
      .to(findings);
}

/// "activations 74.6 GiB, optimizer 11.2 GiB, ...", largest first.
std::string parts_text(const plan::FrameworkMemory& m) {
  std::array parts = {std::pair("parameters", m.parameters), std::pair("gradients", m.gradients),
                      std::pair("optimizer", m.optimizer), std::pair("activations", m.activations),
                      std::pair("transient", m.transient)};
  std::ranges::sort(parts,
                    [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  std::vector<std::string> words;
  for (const auto& [name, bytes] : parts)
    if (bytes.count > 0) words.push_back(fmt::format("{} {}", name, human_bytes(bytes)));
  return join(words, ", ");
}

/// A change of the config, and how a reader would write it.
struct Change {
  std::string text;
  config::TrainingConfig config;
};

template <class T>
Change changed(const Plan& plan, config::Setting<T> config::ParallelSettings::*setting, T value,
               const std::string& key) {
  Change change{fmt::format("use {}: {}", key, value), plan.config};
  (change.config.parallel.*setting).value = value;
  return change;
}

/// Smaller micro-batches and larger degrees that fit the plan, the mildest first of each kind.
std::vector<Change> smaller_splits(const Plan& plan) {
  using P = config::ParallelSettings;
  const auto d = plan::requested_degrees(plan.config);
  std::vector<Change> changes;
  for (Index micro = plan.batch.micro_batch_size / 2; micro >= 1; micro /= 2) {
    Change change{fmt::format("use micro_batch_size: {}", micro), plan.config};
    change.config.batch.micro_batch_size.value = micro;
    changes.push_back(std::move(change));
  }
  const auto block = plan::model_parallel_size(d);
  if (!block || plan.world.size % *block != 0) return changes;
  for (Index cp = 2 * d.cp; cp <= plan.world.size / (d.tp * d.pp); cp *= 2)
    if (cp_fits(plan, cp))
      changes.push_back(changed(plan, &P::context_parallel_size, cp, "context_parallel_size"));
  const std::string tp_key =
      spelled_by_dialect(plan, "tensor_model_parallel_size", "tensor_parallel_size");
  for (Index tp = 2 * d.tp; tp <= plan.world.size / (d.cp * d.pp); tp *= 2)
    if (tp_fits(plan, tp)) changes.push_back(changed(plan, &P::tensor_parallel_size, tp, tp_key));
  return changes;
}

/// Sharding and recomputation that the config does not use yet.
std::vector<Change> savings(const Plan& plan) {
  std::vector<Change> changes;
  const auto& f = plan.config.features;
  if (is_megatron(plan)) {
    Change change{
        fmt::format("add {}: true", spelled_by_dialect(plan, "use_distributed_optimizer")),
        plan.config};
    change.config.megatron.use_distributed_optimizer.value = true;
    if (!plan.config.megatron.use_distributed_optimizer.value_or(false)) changes.push_back(change);
    return changes;
  }
  Change both{"", plan.config};
  if (!f.gradient_checkpointing.given()) {
    Change change{"add gradient_checkpointing: true", plan.config};
    change.config.features.gradient_checkpointing.value = "true";
    both = change;
    changes.push_back(std::move(change));
  }
  if (!f.fsdp.value_or(false) && plan.layout.dims.dp > 1) {
    for (Change change : {Change{"", plan.config}, both}) {
      change.text = (change.text.empty() ? "add " : change.text + ", ") +
                    std::string("fsdp_version: 2 and an fsdp_config");
      change.config.features.fsdp.value = true;
      change.config.features.fsdp_version.value = 2;
      changes.push_back(std::move(change));
    }
  }
  return changes;
}

std::optional<Bytes> needed_with(const Plan& plan, const config::TrainingConfig& config) {
  plan::PlanInputs inputs;
  inputs.world_size = plan.world.size;
  const auto memory = plan::make_plan(config, inputs, {}).framework_memory;
  return memory ? std::optional(memory->total) : std::nullopt;
}

/// Single changes that fit, with what is needed then; where none does, the one that saves most.
std::vector<std::string> ways_to_fit(const Plan& plan, Bytes gpu) {
  std::vector<Change> changes = savings(plan);
  for (Change& change : smaller_splits(plan)) changes.push_back(std::move(change));
  std::vector<std::string> ways;
  std::optional<std::pair<Bytes, std::string>> best;
  for (const Change& change : changes) {
    const auto needed = needed_with(plan, change.config);
    if (!needed) continue;
    if (*needed <= gpu && ways.size() < 3)
      ways.push_back(fmt::format("{}: {} in all", change.text, human_bytes(*needed)));
    if (!best || *needed < best->first) best = {*needed, change.text};
  }
  if (ways.empty() && best && best->first < plan.framework_memory->total)
    ways.push_back(fmt::format("{}: {} in all, and more GPUs to shard over", best->second,
                               human_bytes(best->first)));
  if (ways.empty()) ways.push_back("use more GPUs, or a smaller model or adapter: qlora");
  return ways;
}

void check_gpu(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.framework_memory;
  if (!m || m->fit != plan::Fit::exceeds || !m->gpu_bytes) return;
  Report found("CP403", plan.config.cluster.gpu.span,
               fmt::format("rank {} needs {}, and a GPU of type {} leaves {}", m->heaviest_rank,
                           human_bytes(m->total), m->gpu, human_bytes(*m->gpu_bytes)));
  found.why(fmt::format("its parts are {}", parts_text(*m)));
  for (const std::string& way : ways_to_fit(plan, *m->gpu_bytes)) found.help(way);
  found.see(plan.config.batch.sequence_len).to(findings);
}

}  // namespace

void check_memory(const Plan& plan, Diagnostics& findings) {
  check_logits(plan, findings);
  check_gpu(plan, findings);
}

}  // namespace cpplan::rules
