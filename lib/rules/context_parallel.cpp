// How context parallelism exchanges keys and values: the type of its communication, and the
// settings of axolotl's ring attention.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "model/resolve.hpp"
#include "plan/degrees.hpp"
#include "plan/sequence.hpp"
#include "rules/areas.hpp"
#include "rules/fitting.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using diag::Severity;
using plan::Plan;

/// One type for all layers, or one a layer; where it is set.
struct CommTypes {
  std::vector<std::string> types;
  diag::Span span;
  std::string key;
  bool contain(std::string_view type) const { return std::ranges::count(types, type) > 0; }
};

CommTypes comm_types(const Plan& plan) {
  const auto& list = plan.config.megatron.cp_comm_type;
  const auto& one = plan.config.run.cp_comm_type;
  if (one.given()) return {{*one}, one.span, one.key};
  if (list.given()) return {*list, list.span, list.key};
  return {};
}

void check_type_list(const Plan& plan, const CommTypes& types, Diagnostics& findings) {
  const Index layers = model::known_dimensions(plan.config).num_hidden_layers;
  const auto given = static_cast<Index>(types.types.size());
  if (given <= 1 || layers < 1 || given == layers) return;
  Report("CP341", types.span,
         fmt::format("{} lists {} types for {} layers", types.key, given, layers))
      .why("one type holds for all layers; a list has one for each")
      .help(fmt::format("write one type, for example {}: {}, or {} of them", types.key,
                        types.types.front(), layers))
      .see(plan.config.model.num_hidden_layers)
      .to(findings);
}

std::optional<Index> product_of(const std::vector<Index>& sizes) {
  std::optional<Index> product = 1;
  for (const Index size : sizes) product = product ? checked_multiply(*product, size) : product;
  return product;
}

/// Two levels whose product is cp, the inner as near to 8 (the GPUs of a node) as it goes.
std::string two_levels(Index cp) {
  Index inner = 1;
  for (const Index d : {2, 4, 8})
    if (cp % d == 0) inner = d;
  return fmt::format("[{}, {}]", inner, cp / inner);
}

void check_hierarchy(const Plan& plan, const CommTypes& types, Index cp, Diagnostics& findings) {
  const auto& sizes = plan.config.megatron.hierarchical_context_parallel_sizes;
  const std::string key = spelled_by_dialect(plan, "hierarchical_context_parallel_sizes",
                                             "cpplan.run.hierarchical_context_parallel_sizes");
  const auto& degree = plan::context_parallel_setting(plan.config);
  if (types.contain("a2a+p2p") && !sizes.given()) {
    Report("CP340", types.span,
           fmt::format("{} a2a+p2p needs {} with the product {}", types.key, key, cp))
        .why(
            "the all-to-all runs over the inner level and the ring over the outer; without levels "
            "a job was seen to train with each rank attending to its own tokens alone")
        .help(fmt::format("add {}: {}, or use {}: p2p", key, two_levels(cp), types.key))
        .see(degree)
        .to(findings);
  } else if (sizes.given() && product_of(*sizes) != cp) {
    const auto product = product_of(*sizes);
    Report("CP340", sizes.span,
           fmt::format("{} [{}] have the product {}, but CP is {}", sizes.key,
                       fmt::format("{}", fmt::join(*sizes, ", ")),
                       product ? std::to_string(*product) : "beyond 64 bits", cp))
        .why("the levels cut the context-parallel group into blocks of equal size")
        .help(fmt::format("write {}: {}", sizes.key, two_levels(cp)))
        .see(degree)
        .to(findings);
  }
}

/// Ranks over which an all-to-all hands out heads: CP, or the inner level of a2a+p2p; 1 for none.
Index all_to_all_ranks(const Plan& plan, const CommTypes& types, Index cp) {
  if (types.contain("a2a")) return cp;
  const auto& sizes = plan.config.megatron.hierarchical_context_parallel_sizes;
  if (types.contain("a2a+p2p") && sizes.given() && !(*sizes).empty()) return (*sizes).front();
  return 1;
}

/// CP degrees over which the heads of a TP rank divide, too.
std::vector<Index> nearest_head_degrees(const Plan& plan, Index heads_of_rank, Index cp) {
  return nearest_fitting(plan.world.size, cp, [&](Index degree) {
    return heads_of_rank % degree == 0 && cp_fits(plan, degree);
  });
}

void report_heads(const Plan& plan, Index heads, Index tp, Index ranks, const CommTypes& types,
                  Diagnostics& findings) {
  const auto& degree = plan::context_parallel_setting(plan.config);
  const auto near = nearest_head_degrees(plan, heads / tp, *degree);
  Report("CP318", degree.span,
         fmt::format("{} attention heads do not divide over an all-to-all of {} * TP {}", heads,
                     ranks, tp))
      .why("an all-to-all gives every rank whole heads of the whole sequence")
      .help(near.empty() ? "" : fmt::format("use {}", choices(degree.key, near)))
      .help(fmt::format("or {}: p2p, which splits no heads", types.key))
      .to(findings);
}

void report_key_values(const Plan& plan, Index key_values, Index tp, Index ranks,
                       const CommTypes& types, Diagnostics& findings) {
  const auto& degree = plan::context_parallel_setting(plan.config);
  const bool copies = ranks * tp % key_values == 0 && !is_megatron(plan);
  const auto near = nearest_head_degrees(plan, std::max<Index>(1, key_values / tp), *degree);
  Report("CP318", degree.span,
         fmt::format("{} key-value heads over an all-to-all of {} ranks{}", key_values, ranks * tp,
                     copies ? " need KV replication" : " do not divide"))
      .why(
          "key-value heads can only be copied to a whole number of ranks, whose gradients are "
          "summed; TransformerEngine refuses it")
      .help(near.empty() ? "" : fmt::format("use {}", choices(degree.key, near)))
      .help(fmt::format("or {}: p2p, which splits no heads", types.key))
      .see(plan.config.model.num_key_value_heads)
      .as(copies ? Severity::warning : Severity::error)
      .to(findings);
}

/// An all-to-all hands heads to the ranks of its group as TP does.
void check_all_to_all(const Plan& plan, const CommTypes& types, Index cp, Diagnostics& findings) {
  const auto model = model::known_dimensions(plan.config);
  const Index heads = model.num_attention_heads, tp = plan::requested_degrees(plan.config).tp;
  const Index inner = all_to_all_ranks(plan, types, cp);
  const auto ranks = checked_multiply(inner, tp);
  if (inner <= 1 || !ranks || heads < 1 || heads % tp != 0) return;
  const Index key_values = model.num_key_value_heads;
  if (heads % *ranks != 0)
    report_heads(plan, heads, tp, inner, types, findings);
  else if (key_values >= 1 && key_values % *ranks != 0)
    report_key_values(plan, key_values, tp, inner, types, findings);
}

/// TransformerEngine's ring knows no windows; our engine's does.
void check_window(const Plan& plan, const CommTypes& types, Diagnostics& findings) {
  const auto& window = plan.config.megatron.window_size;
  const bool whole = !types.types.empty() && !types.contain("p2p") && !types.contain("a2a+p2p");
  if (!window.given() || model::known_dimensions(plan.config).sliding_window <= 0 || whole) return;
  const std::string key = spelled_by_dialect(plan, "cp_comm_type");
  report("CP347", window, fmt::format("{} does not go with a ring of keys", window.key))
      .why("TransformerEngine computes sliding windows only where a rank sees whole sequences")
      .help(fmt::format("use {0}: all_gather or {0}: a2a", key))
      .see(plan::context_parallel_setting(plan.config))
      .to(findings);
}

/// megatron/training/arguments.py: what hybrid (dynamic) context parallelism goes with.
void check_hybrid(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto& hybrid = m.hybrid_context_parallel;
  if (!hybrid.value_or(false)) return;
  const auto refuse = [&](const std::string& what, const std::string& instead) {
    report("CP342", hybrid, fmt::format("{} does not go with {}", hybrid.key, what))
        .why("it regroups ranks by the lengths of the documents of each step")
        .help(instead)
        .to(findings);
  };
  const Index pp = plan::requested_degrees(plan.config).pp;
  const auto key = [&](const char* name) { return spelled_by_dialect(plan, name); };
  if (pp > 1)
    refuse(fmt::format("{} pipeline stages", pp),
           fmt::format("use {}: 1", plan.config.parallel.pipeline_parallel_size.key));
  if (m.use_megatron_fsdp.value_or(false))
    refuse("Megatron-FSDP", fmt::format("remove {}", m.use_megatron_fsdp.key));
  if (m.dataloader_type.given() && *m.dataloader_type != "single")
    refuse(fmt::format("{} {}", m.dataloader_type.key, *m.dataloader_type),
           fmt::format("use {}: single", m.dataloader_type.key));
  if (!m.calculate_per_token_loss.value_or(false))
    refuse("a loss that is averaged by sequence",
           fmt::format("add {}: true", key("calculate_per_token_loss")));
}

/// axolotl's registry (monkeypatch/ring_attn/patch.py) has two functions; packing needs the one
/// that knows where documents end.
void check_ring_function(const Plan& plan, Diagnostics& findings) {
  const auto& function = plan.config.features.ring_attn_func;
  const auto& packing = plan.config.batch.sample_packing;
  if (function.value_or("") != "batch_ring" || !packing.value_or(false)) return;
  report("CP344", function,
         fmt::format("{} batch_ring knows no documents, and {} joins several in a row",
                     function.key, packing.key))
      .why("attention would cross from one document into the next")
      .help(fmt::format("use {}: varlen_llama3, or remove it: that is the default with packing",
                        function.key))
      .see(packing)
      .as(Severity::warning)
      .to(findings);
}

void check_heads_stride(const Plan& plan, Diagnostics& findings) {
  const auto& stride = plan.config.features.heads_k_stride;
  const auto model = model::known_dimensions(plan.config);
  if (!stride.given()) return;
  const Index tp = plan::requested_degrees(plan.config).tp;
  const Index heads = model.num_key_value_heads;
  const Index of_rank = heads >= 1 && heads % tp == 0 ? heads / tp : 0;
  if (*stride >= 1 && (of_rank == 0 || of_rank % *stride == 0)) return;
  const std::string heads_text = of_rank > 0 ? fmt::format("{}", of_rank) : "key-value";
  report("CP343", stride,
         *stride < 1 ? fmt::format("{} is {} (it counts heads)", stride.key, *stride)
                     : fmt::format("{} {} does not divide the {} key-value heads of a rank",
                                   stride.key, *stride, of_rank))
      .why(
          "llama3's ring attention gathers that many key-value heads at a time; axolotl says so in "
          "a help text alone, and the run stops in the first step")
      .help(of_rank > 0 && *stride >= 1
                ? fmt::format("use {}", choices(stride.key, nearest_divisors(of_rank, *stride)))
                : fmt::format("use {}: 1", stride.key))
      .see(plan.config.model.num_key_value_heads)
      .to(findings);
}

/// Settings of ring attention without ring attention.
template <class T>
void check_ring_is_used(const config::Setting<T>& setting, Diagnostics& findings) {
  if (!setting.given()) return;
  diag::Span place = setting.key_span.placed() ? setting.key_span : setting.span;
  Report("CP116", place, fmt::format("{} has no effect without context parallelism", setting.key))
      .why("it configures ring attention, which runs between context-parallel ranks")
      .help(fmt::format("add context_parallel_size: 2, or remove {}", setting.key))
      .as(Severity::note)
      .to(findings);
}

/// At run time axolotl pads to a multiple of min(CP, 64) (utils/ctx_managers/sequence_parallel.py).
void check_padding_limit(const Plan& plan, Index cp, Diagnostics& findings) {
  constexpr Index most = 64;
  const auto tokens = sequence_tokens(plan);
  if (cp <= most || !tokens) return;
  const Index padded = plan::framework_sequence_len(plan.config, *tokens);
  const auto& b = plan.config.batch;
  const bool fixed = b.pad_to_sequence_len.value_or(b.sample_packing.value_or(false));
  if (fixed && padded % cp == 0) return;
  const auto& degree = plan::context_parallel_setting(plan.config);
  report("CP345", degree,
         fmt::format("{} {} is beyond the {} ranks that axolotl's padding knows", degree.key, cp,
                     most))
      .why("sequences are padded to a multiple of 64 tokens, which do not divide over more ranks")
      .help(fmt::format("use pad_to_sequence_len: true and sequence_len: {}",
                        checked_multiply(cp, most).value_or(most)))
      .help(fmt::format("or {}: {}", degree.key, most))
      .see(b.sequence_len)
      .as(Severity::warning)
      .to(findings);
}

void check_axolotl(const Plan& plan, Index cp, Diagnostics& findings) {
  const auto& f = plan.config.features;
  if (cp > 1) {
    check_ring_function(plan, findings);
    check_heads_stride(plan, findings);
    check_padding_limit(plan, cp, findings);
  } else {
    check_ring_is_used(f.ring_attn_func, findings);
    check_ring_is_used(f.heads_k_stride, findings);
  }
}

}  // namespace

void check_context_parallel(const Plan& plan, Diagnostics& findings) {
  const Index cp = plan::requested_degrees(plan.config).cp;
  const CommTypes types = comm_types(plan);
  if (cp > 1) {
    check_type_list(plan, types, findings);
    check_hierarchy(plan, types, cp, findings);
    check_all_to_all(plan, types, cp, findings);
    check_window(plan, types, findings);
  }
  if (is_megatron(plan))
    check_hybrid(plan, findings);
  else
    check_axolotl(plan, cp, findings);
}

}  // namespace cpplan::rules
