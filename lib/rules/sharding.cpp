// What shards parameters, gradients and optimizer states: FSDP, DeepSpeed and Megatron's
// distributed optimizer, against optimizers, quantisation and the degrees.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using diag::Severity;
using plan::Plan;

/// FSDP's version counts as 1 where nothing says (axolotl, utils/schemas/validation.py).
Index fsdp_version(const Plan& plan) {
  return plan.config.features.fsdp_version.value_or(1);
}

bool uses_fsdp(const Plan& plan) {
  return plan.config.features.fsdp.value_or(false);
}

bool uses_deepspeed(const Plan& plan) {
  return plan.config.features.deepspeed.value_or(false);
}

void check_both(const Plan& plan, Diagnostics& findings) {
  const auto& f = plan.config.features;
  if (!uses_fsdp(plan) || !uses_deepspeed(plan) || f.fsdp.key == "fsdp") return;
  Report("CP115", f.deepspeed.key_span,
         fmt::format("{} and {} exclude each other", f.deepspeed.key, f.fsdp.key))
      .why("both shard the model; axolotl checks its old key fsdp alone and lets this pass")
      .help(fmt::format("keep one of them: remove {} or {}", f.deepspeed.key, f.fsdp.key))
      .see(f.fsdp)
      .to(findings);
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::count(words, word) > 0;
}

void refuse_optimizer(const Plan& plan, const std::string& with, const std::string& why,
                      const std::string& help, Diagnostics& findings) {
  const auto& optimizer = plan.config.optimizer.optimizer;
  report("CP370", optimizer,
         fmt::format("{} {} does not go with {}", optimizer.key, *optimizer, with))
      .why(why)
      .help(help)
      .to(findings);
}

/// 8-bit states of bitsandbytes are no tensors that FSDP2 and TP can cut.
void check_8bit(const Plan& plan, Diagnostics& findings) {
  const std::string name = plan.config.optimizer.optimizer.value_or("");
  const bool sharded_by_2 = uses_fsdp(plan) && fsdp_version(plan) == 2;
  const bool offloads = plan.config.features.fsdp_offload_params.value_or(false);
  if (sharded_by_2 && is_one_of(name, {"adamw_8bit", "adamw_bnb_8bit"}))
    return refuse_optimizer(plan, "FSDP2", "bitsandbytes' kernels fail on the shards of FSDP2",
                            "use optimizer: adamw_torch_8bit", findings);
  if (uses_fsdp(plan) && !sharded_by_2 && offloads && name.find("8bit") != name.npos)
    return refuse_optimizer(plan, "offloaded FSDP1", "8-bit states cannot be moved to the CPU",
                            "use optimizer: adamw_torch_fused", findings);
  const auto& tp = plan.config.parallel.tensor_parallel_size;
  if (tp.value_or(1) > 1 && is_one_of(name, {"paged_adamw_8bit", "adamw_8bit", "adamw_bnb_8bit"}))
    refuse_optimizer(
        plan, fmt::format("{} {}", tp.key, *tp),
        "axolotl has a check for it that no class inherits, so the run fails later, in "
        "the first optimizer step",
        "use optimizer: adamw_torch_fused", findings);
}

/// Optimizers that need whole matrices, or states that only some shardings keep.
void check_special_optimizer(const Plan& plan, Diagnostics& findings) {
  const std::string name = plan.config.optimizer.optimizer.value_or("");
  const bool special = name == "muon" || name.starts_with("q_galore") || name.starts_with("flash_");
  if (!special) return;
  const std::string why =
      "axolotl refuses it: the optimizer works on whole matrices, or on shards "
      "that FSDP2 alone provides";
  if (uses_deepspeed(plan))
    refuse_optimizer(plan, "DeepSpeed", why, "use optimizer: adamw_torch_fused", findings);
  else if (uses_fsdp(plan) && fsdp_version(plan) != 2)
    refuse_optimizer(plan, "FSDP1", why, "add fsdp_version: 2, or use optimizer: adamw_torch_fused",
                     findings);
}

/// accelerate's ParallelismConfig takes FSDP's version 2 alone.
void check_fsdp1(const Plan& plan, Diagnostics& findings) {
  const auto d = plan::requested_degrees(plan.config);
  const auto& f = plan.config.features;
  if (!uses_fsdp(plan) || fsdp_version(plan) == 2 || (d.tp == 1 && d.cp == 1)) return;
  Report("CP375", place_of(f.fsdp_version.span, f.fsdp.key_span),
         fmt::format("FSDP1 does not go with TP {} and CP {}", d.tp, d.cp))
      .why(f.fsdp_version.given() ? "accelerate combines degrees with FSDP version 2 alone"
                                  : "without fsdp_version axolotl takes 1, and accelerate combines "
                                    "degrees with version 2 alone")
      .help("write fsdp_version: 2 at the top level")
      .see(plan.config.parallel.tensor_parallel_size)
      .see(plan::context_parallel_setting(plan.config))
      .as(Severity::warning)
      .to(findings);
}

/// DeepSpeed's JSON is rewritten: the degree goes into it as autotp_size.
void check_autotp(const Plan& plan, Diagnostics& findings) {
  const auto& tp = plan.config.parallel.tensor_parallel_size;
  if (!uses_deepspeed(plan) || tp.value_or(1) <= 1) return;
  report("CP377", tp, fmt::format("{} {} goes into DeepSpeed's JSON as autotp_size", tp.key, *tp))
      .why(
          "axolotl writes a changed copy of the file, in which it replaces a tensor_parallel "
          "section")
      .help(fmt::format("leave tensor_parallel out of that JSON, or use {}: 1", tp.key))
      .see(plan.config.features.deepspeed)
      .to(findings);
}

/// DP ranks with whole copies beside TP or CP: axolotl's table of what goes together lacks it.
void check_plain_data_parallel(const Plan& plan, Diagnostics& findings) {
  const auto d = plan::requested_degrees(plan.config);
  const bool axolotls_own = d.pp == 1 && !plan.config.parallel.data_parallel_size.given();
  const bool split = d.tp > 1 || d.cp > 1;
  if (!axolotls_own || !split || plan.layout.dims.dp <= 1 || uses_fsdp(plan) ||
      uses_deepspeed(plan))
    return;
  if (plan.config.parallel.dp_replicate_size.given() || plan.config.parallel.dp_shard_size.given())
    return;
  const auto& blamed = d.tp > 1 ? plan.config.parallel.tensor_parallel_size
                                : plan::context_parallel_setting(plan.config);
  report("CP376", blamed,
         fmt::format("{} data-parallel ranks beside {} {} are not sharded", plan.layout.dims.dp,
                     blamed.key, *blamed))
      .why("axolotl documents TP and CP with FSDP, and counts these ranks as dp_shard without it")
      .help("add fsdp_version: 2 and an fsdp_config")
      .to(findings);
}

void check_axolotl_sharding(const Plan& plan, Diagnostics& findings) {
  check_both(plan, findings);
  check_8bit(plan, findings);
  check_special_optimizer(plan, findings);
  check_fsdp1(plan, findings);
  check_autotp(plan, findings);
  check_plain_data_parallel(plan, findings);
}

/// megatron/training/arguments.py, --use-torch-fsdp2.
void check_torch_fsdp2(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& fsdp = m.use_torch_fsdp2;
  if (!fsdp.value_or(false)) return;
  const auto refuse = [&](const std::string& what, const std::string& help) {
    report("CP371", fsdp, fmt::format("{} does not go with {}", fsdp.key, what))
        .why("Megatron stops: torch's FSDP2 shards what the other would shard or hold whole")
        .help(help)
        .to(findings);
  };
  const auto d = plan::requested_degrees(plan.config);
  const auto& ep = plan.config.parallel.expert_parallel_size;
  if (d.pp > 1)
    refuse(fmt::format("{} pipeline stages", d.pp),
           fmt::format("use {}: 1", plan.config.parallel.pipeline_parallel_size.key));
  if (ep.value_or(1) > 1) refuse("expert parallelism", fmt::format("use {}: 1", ep.key));
  if (m.use_distributed_optimizer.value_or(false))
    refuse("the distributed optimizer", fmt::format("remove {}", m.use_distributed_optimizer.key));
  if (m.fp16.value_or(false)) refuse("fp16", fmt::format("remove {}, and use bf16", m.fp16.key));
  if (m.ckpt_format.given() && *m.ckpt_format != "torch_dcp")
    refuse(fmt::format("checkpoints of format {}", *m.ckpt_format),
           fmt::format("use {}: torch_dcp", m.ckpt_format.key));
  if (!m.untie_embeddings.value_or(false))
    refuse("embeddings that are tied to the output",
           fmt::format("add {}: true",
                       spelled_by_dialect(plan, "untie_embeddings_and_output_weights")));
}

void check_megatron_fsdp(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& optimizer = plan.config.optimizer.optimizer;
  if (!m.use_megatron_fsdp.value_or(false)) return;
  const auto refuse = [&](const diag::Span& place, const std::string& what,
                          const std::string& help) {
    Report("CP372", place, fmt::format("{} does not go with {}", m.use_megatron_fsdp.key, what))
        .why("Megatron's FSDP knows sgd and adam, and checkpoints of its own format")
        .help(help)
        .see(m.use_megatron_fsdp)
        .to(findings);
  };
  if (optimizer.given() && !is_one_of(*optimizer, {"sgd", "adam"}))
    refuse(optimizer.span, fmt::format("{} {}", optimizer.key, *optimizer),
           fmt::format("use {}: adam", optimizer.key));
  if (m.ckpt_format.given() && *m.ckpt_format != "fsdp_dtensor")
    refuse(m.ckpt_format.span, fmt::format("checkpoints of format {}", *m.ckpt_format),
           fmt::format("use {}: fsdp_dtensor", m.ckpt_format.key));
}

/// Parameters are gathered behind the compute only where they were scattered.
void check_sharding_overlap(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const bool sharded = m.use_distributed_optimizer.value_or(false) ||
                       m.use_megatron_fsdp.value_or(false) || m.use_torch_fsdp2.value_or(false);
  const auto refuse = [&](const auto& setting, const char* missing) {
    report("CP373", setting,
           fmt::format("{} needs {}", setting.key, spelled_by_dialect(plan, missing)))
        .why(
            "gathering parameters is hidden behind the compute of the step whose gradients were "
            "scattered")
        .help(fmt::format("add {}: true, or remove {}", spelled_by_dialect(plan, missing),
                          setting.key))
        .to(findings);
  };
  if (m.overlap_param_gather.value_or(false)) {
    if (!sharded) refuse(m.overlap_param_gather, "use_distributed_optimizer");
    if (!m.overlap_grad_reduce.value_or(false) && !m.use_torch_fsdp2.value_or(false))
      refuse(m.overlap_param_gather, "overlap_grad_reduce");
  }
  const auto& with_step = m.overlap_param_gather_with_optimizer_step;
  if (with_step.value_or(false) && !m.use_distributed_optimizer.value_or(false))
    refuse(with_step, "use_distributed_optimizer");
}

void check_instances(const Plan& plan, Diagnostics& findings) {
  const auto& instances = plan.config.megatron.num_distributed_optimizer_instances;
  if (!instances.given()) return;
  const auto ranks = checked_multiply(plan.layout.dims.dp, plan.layout.dims.cp);
  if (!ranks || (*instances >= 1 && *ranks % *instances == 0)) return;
  report("CP374", instances,
         fmt::format("{} {} does not divide the DP*CP = {}*{} = {} ranks", instances.key,
                     *instances, plan.layout.dims.dp, plan.layout.dims.cp, *ranks))
      .why("each instance of the distributed optimizer shards over equally many of them")
      .help(fmt::format("use {}", choices(instances.key, nearest_divisors(*ranks, *instances))))
      .to(findings);
}

void check_precision(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  if (!m.bf16.value_or(false) || !m.fp16.value_or(false)) return;
  report("CP115", m.fp16, fmt::format("{} and {} exclude each other", m.fp16.key, m.bf16.key))
      .why("weights have one type")
      .help(fmt::format("keep {}: true, and remove {}", m.bf16.key, m.fp16.key))
      .see(m.bf16)
      .to(findings);
}

/// torch_dcp writes what one rank holds of a model that nothing else splits.
void check_checkpoint_format(const Plan& plan, Diagnostics& findings) {
  const auto& format = plan.config.megatron.ckpt_format;
  const auto d = plan::requested_degrees(plan.config);
  if (format.value_or("") != "torch_dcp" || (d.tp == 1 && d.pp == 1)) return;
  report("CP378", format,
         fmt::format("checkpoints of format torch_dcp do not go with TP {} and PP {}", d.tp, d.pp))
      .why("Megatron writes them without tensor or pipeline parallelism alone")
      .help(fmt::format("use {}: torch_dist", format.key))
      .see(plan.config.parallel.tensor_parallel_size)
      .see(plan.config.parallel.pipeline_parallel_size)
      .to(findings);
}

}  // namespace

void check_sharding(const Plan& plan, Diagnostics& findings) {
  if (!is_megatron(plan)) return check_axolotl_sharding(plan, findings);
  check_torch_fsdp2(plan, findings);
  check_megatron_fsdp(plan, findings);
  check_sharding_overlap(plan, findings);
  check_instances(plan, findings);
  check_precision(plan, findings);
  check_checkpoint_format(plan, findings);
}

}  // namespace cpplan::rules
