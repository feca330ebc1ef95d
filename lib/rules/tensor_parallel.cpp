// Tensor parallelism beyond heads: sequence parallelism that rides on it, overlap, and what
// Megatron's kinds of attention ask.
#include <fmt/format.h>

#include "base/checked.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using config::Setting;
using diag::Diagnostics;
using diag::Severity;
using plan::Plan;

void check_sequence_parallel(const Plan& plan, Index tp, Diagnostics& findings) {
  const auto& sp = plan.config.parallel.sequence_parallel;
  if (tp > 1 || !sp.value_or(false)) return;
  const std::string key = spelled(plan, plan.config.parallel.tensor_parallel_size,
                                  "tensor_model_parallel_size", "tensor_parallel_size");
  report("CP316", sp, fmt::format("{} has no effect with TP 1", sp.key))
      .why(
          "it splits the sequence between tensor-parallel ranks; Megatron turns it off without a "
          "word")
      .help(fmt::format("remove {}, or use {}: 2", sp.key, key))
      .see(plan.config.parallel.tensor_parallel_size)
      .to(findings);
}

void check_overlap(const Plan& plan, Index tp, Diagnostics& findings) {
  const auto& overlap = plan.config.megatron.tp_comm_overlap;
  const auto& sp = plan.config.parallel.sequence_parallel;
  if (!overlap.value_or(false) || (tp > 1 && sp.value_or(false))) return;
  report("CP366", overlap, fmt::format("{} needs sequence parallelism", overlap.key))
      .why(
          "what it hides behind matrix products are the gathers and scatters of sequence "
          "parallelism")
      .help(tp > 1 ? fmt::format("add {}: true", spelled_by_dialect(plan, "sequence_parallel"))
                   : fmt::format("remove {}", overlap.key))
      .see(sp)
      .see(plan.config.parallel.tensor_parallel_size)
      .to(findings);
}

void check_latent_attention(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  if (!m.multi_latent_attention.value_or(false) || !m.group_query_attention.value_or(false)) return;
  report("CP115", m.group_query_attention,
         fmt::format("{} and {} exclude each other", m.multi_latent_attention.key,
                     m.group_query_attention.key))
      .why("latent attention compresses keys and values in a way of its own")
      .help(fmt::format("remove {}", m.group_query_attention.key))
      .see(m.multi_latent_attention)
      .to(findings);
}

/// Heads of linear attention are split by TP and by CP.
void check_linear_heads(const Setting<Index>& heads, const plan::Degrees& d,
                        Diagnostics& findings) {
  const auto ranks = checked_multiply(d.tp, d.cp);
  if (!heads.given() || *heads < 1 || !ranks || *heads % *ranks == 0) return;
  report("CP307", heads,
         fmt::format("{} {} do not divide over TP*CP = {}*{}", heads.key, *heads, d.tp, d.cp))
      .why("linear attention keeps whole heads of the whole sequence on a rank")
      .help(fmt::format("use {}", choices(heads.key, nearest_multiples(*ranks, *heads))))
      .to(findings);
}

/// Before Blackwell the order of kernels of two streams is that of their launches only with one
/// connection, on which the overlap of communication relies; torch's FSDP2 wants more.
void check_connections(const Plan& plan, const plan::Degrees& d, Diagnostics& findings) {
  const auto& connections = plan.config.megatron.cuda_device_max_connections;
  const auto& m = plan.config.megatron;
  if (!connections.given()) return;
  const bool fsdp = m.use_torch_fsdp2.value_or(false) || m.use_megatron_fsdp.value_or(false);
  const bool one = *connections == "1";
  if (fsdp ? !one : one || (d.tp == 1 && d.cp == 1)) return;
  report("CP379", connections,
         fmt::format("{} is {} with {}", connections.key, *connections,
                     fsdp ? std::string("FSDP") : fmt::format("TP {} and CP {}", d.tp, d.cp)))
      .why(fsdp
               ? "FSDP overlaps gathers with compute, for which one connection leaves no room"
               : "before Blackwell kernels of several streams start in the order of their launches "
                 "only over one connection, and Megatron stops")
      .help(fsdp ? fmt::format("use {}: 32", connections.key)
                 : fmt::format("use {}: 1", connections.key))
      .to(findings);
}

}  // namespace

void check_tensor_parallel(const Plan& plan, Diagnostics& findings) {
  const auto d = plan::requested_degrees(plan.config);
  check_sequence_parallel(plan, d.tp, findings);
  if (!is_megatron(plan)) return;
  check_overlap(plan, d.tp, findings);
  check_latent_attention(plan, findings);
  check_linear_heads(plan.config.megatron.linear_num_key_heads, d, findings);
  check_linear_heads(plan.config.megatron.linear_num_value_heads, d, findings);
  check_connections(plan, d, findings);
}

}  // namespace cpplan::rules
