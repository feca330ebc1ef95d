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

/// What makes the greater part smaller, in settings that the config does not use yet.
std::vector<std::string> ways_to_fit(const Plan& plan, const plan::FrameworkMemory& m) {
  const auto d = plan::requested_degrees(plan.config);
  const auto& f = plan.config.features;
  const Index passing = m.activations.count + m.transient.count;
  std::vector<std::string> ways;
  if (2 * passing >= m.total.count) {
    if (plan.batch.micro_batch_size > 1)
      ways.push_back(fmt::format("use micro_batch_size: {}", plan.batch.micro_batch_size / 2));
    if (!is_megatron(plan) && !f.gradient_checkpointing.given())
      ways.emplace_back("add gradient_checkpointing: true");
    if (const Index cp = 2 * d.cp; cp_fits(plan, cp))
      ways.push_back(fmt::format("use context_parallel_size: {}", cp));
  } else {
    if (!is_megatron(plan) && !f.fsdp.value_or(false) && plan.layout.dims.dp > 1)
      ways.emplace_back("add fsdp_version: 2 and an fsdp_config, which shard these states");
    if (is_megatron(plan) && !plan.config.megatron.use_distributed_optimizer.value_or(false))
      ways.push_back(
          fmt::format("add {}: true", spelled_by_dialect(plan, "use_distributed_optimizer")));
    if (const Index tp = 2 * d.tp; tp_fits(plan, tp))
      ways.push_back(fmt::format(
          "use {}: {}",
          spelled_by_dialect(plan, "tensor_model_parallel_size", "tensor_parallel_size"), tp));
  }
  ways.push_back(fmt::format("or more GPUs: --world-size {}",
                             checked_multiply(2, plan.world.size).value_or(plan.world.size)));
  return ways;
}

void check_gpu(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.framework_memory;
  if (!m || m->fit != plan::Fit::exceeds || !m->gpu_bytes) return;
  Report found("CP403", plan.config.cluster.gpu.span,
               fmt::format("rank {} needs {}, but a {} leaves {}", m->heaviest_rank,
                           human_bytes(m->total), m->gpu, human_bytes(*m->gpu_bytes)));
  found.why(fmt::format("its parts are {}", parts_text(*m)));
  for (const std::string& way : ways_to_fit(plan, *m)) found.help(way);
  found.see(plan.config.batch.sequence_len).to(findings);
}

}  // namespace

void check_memory(const Plan& plan, Diagnostics& findings) {
  check_logits(plan, findings);
  check_gpu(plan, findings);
}

}  // namespace cpplan::rules
