// The dimensions of the model, and its heads against the degrees that split them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "model/registry.hpp"
#include "model/resolve.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using diag::Diagnostics;
using diag::finding;
using diag::Severity;
using plan::Plan;

/// What a rule on heads looks at; 0 where not known. Of the file's model, not of its shrunk one.
struct Heads {
  const Plan& plan;
  model::ModelSpec model;
  Index attention() const { return model.num_attention_heads; }
  Index key_value() const { return model.num_key_value_heads; }
  const config::ModelSettings& settings() const { return plan.config.model; }
};

/// A note only: a folder or an unlisted model is no mistake, but rules on heads then see nothing.
void check_name(const Plan& plan, const model::ModelSpec& known, Diagnostics& findings) {
  const auto& name = plan.config.model.base_model;
  if (!name.given() || known.hidden_size > 0 || model::find_model(*name)) return;
  diag::Details details;
  details.why = "without dimensions the checks of heads and layers, and memory, are left out";
  if (const auto like = model::models_like(*name); !like.empty())
    details.help.push_back(fmt::format("did you mean {}?", join_words(like, "or")));
  details.help.push_back("give hidden_size, num_hidden_layers, ... under cpplan.model");
  findings.push_back(finding(
      "CP201", name.span, fmt::format("the dimensions of \"{}\" are not known", *name), details));
}

void check_hidden(const Heads& h, Diagnostics& findings) {
  const auto& m = h.model;
  const bool known = m.hidden_size >= 1 && h.attention() >= 1 && m.head_dim == 0;
  if (!known || m.hidden_size % h.attention() == 0) return;
  const auto& s = h.settings();
  diag::Details details;
  details.why =
      "each head takes hidden_size / num_attention_heads features unless head_dim says more";
  details.help = {
      fmt::format("use {}", choices(key_of(s.num_attention_heads, "num_attention_heads"),
                                    nearest_divisors(m.hidden_size, h.attention()))),
      fmt::format("or hidden_size: {}", nearest_multiples(h.attention(), m.hidden_size).back())};
  relate(details.related, s.hidden_size);
  findings.push_back(finding("CP202", place_of(s.num_attention_heads.span, s.hidden_size.span),
                             fmt::format("hidden_size {} is not divisible by {} attention heads",
                                         m.hidden_size, h.attention()),
                             details));
}

/// True where the heads alone are consistent.
bool check_groups(const Heads& h, Diagnostics& findings) {
  if (h.attention() < 1 || h.key_value() < 1) return false;
  if (h.attention() % h.key_value() == 0) return true;
  const auto& s = h.settings();
  diag::Details details;
  details.why = "each key-value head serves the same number of attention heads";
  details.help = {
      fmt::format("use {}", choices(key_of(s.num_key_value_heads, "num_key_value_heads"),
                                    nearest_divisors(h.attention(), h.key_value())))};
  relate(details.related, s.num_attention_heads);
  findings.push_back(finding("CP203",
                             place_of(s.num_key_value_heads.span, s.num_attention_heads.span),
                             fmt::format("{} attention heads cannot share {} key-value heads",
                                         h.attention(), h.key_value()),
                             details));
  return false;
}

/// Every dimension is given, and still there is no such model.
void check_dimensions(const Heads& h, Diagnostics& findings) {
  const auto& s = h.settings();
  const config::Setting<Index>* const dimensions[] = {&s.hidden_size,
                                                      &s.num_hidden_layers,
                                                      &s.num_attention_heads,
                                                      &s.num_key_value_heads,
                                                      &s.intermediate_size,
                                                      &s.vocab_size,
                                                      &s.head_dim};
  constexpr Index most = Index{1} << 30;
  for (const auto* dimension : dimensions)
    if (dimension->given() && (**dimension < 1 || **dimension > most))
      findings.push_back(
          finding("CP204", dimension->span, fmt::format("{} is {}", dimension->key, **dimension),
                  {.why = "a dimension of a model is between 1 and 2^30",
                   .help = {fmt::format("write a positive {}, for example 16", dimension->key)}}));
}

void check_tensor_parallel(const Heads& h, Index tp, Diagnostics& findings) {
  if (h.attention() < 1 || h.attention() % tp == 0) return;
  const auto& setting = h.plan.config.parallel.tensor_parallel_size;
  const std::string key = key_of(setting, "tensor_parallel_size");
  diag::Details details;
  details.why = "a head is computed whole on one rank";
  details.help = {fmt::format("use {}", choices(key, nearest_divisors(h.attention(), tp)))};
  relate(details.related, h.settings().num_attention_heads);
  findings.push_back(finding(
      "CP307", setting.span,
      fmt::format("{} attention heads do not divide over {} {}", h.attention(), key, tp), details));
}

/// Fewer key-value heads than ranks: legal where each is copied to a whole number of ranks.
void report_replication(const Heads& h, Index tp, Diagnostics& findings) {
  const auto& setting = h.plan.config.parallel.tensor_parallel_size;
  const Index g = h.key_value();
  diag::Details details;
  details.why =
      "Megatron keeps a copy of a key-value head on several ranks; Hugging Face's and torchtitan's "
      "tensor parallelism cut through it and fail";
  details.help = {fmt::format("use {}: {}, which needs no copies", setting.key, g)};
  relate(details.related, h.settings().num_key_value_heads);
  std::string width;
  if (h.model.head_dim > 0 && g * h.model.head_dim % tp == 0)
    width =
        fmt::format(": {}*{}/{} = {} columns a rank, {} of a head", g, h.model.head_dim, tp,
                    g * h.model.head_dim / tp, tp / g == 2 ? "half" : fmt::format("1/{}", tp / g));
  findings.push_back(with_severity(
      finding("CP308", setting.span,
              fmt::format("{} key-value heads over {} {} need KV replication, {}x each{}", g,
                          setting.key, tp, tp / g, width),
              details),
      Severity::warning));
}

void check_key_values(const Heads& h, Index tp, Diagnostics& findings) {
  const Index g = h.key_value();
  if (g < 1 || g % tp == 0) return;
  if (tp % g == 0) return report_replication(h, tp, findings);
  const auto& setting = h.plan.config.parallel.tensor_parallel_size;
  const Index common = std::gcd(g, std::max<Index>(1, h.attention()));
  diag::Details details;
  details.why = "a rank holds whole key-value heads, or several ranks hold a copy of one";
  details.help = {fmt::format("use {}", choices(setting.key, nearest_divisors(common, tp)))};
  relate(details.related, h.settings().num_key_value_heads);
  findings.push_back(
      finding("CP308", setting.span,
              fmt::format("{} key-value heads are neither a multiple nor a divisor of {} {}", g,
                          setting.key, tp),
              details));
}

/// An all-to-all hands heads to the ranks of its group as TP does.
void check_all_to_all(const Heads& h, Index cp, Index tp, Diagnostics& findings) {
  const auto& type = h.plan.config.run.cp_comm_type;
  if (cp == 1 || type.value_or("") != "a2a" || h.attention() < 1) return;
  const Index ranks = cp * tp;
  const auto& setting = plan::context_parallel_setting(h.plan.config);
  diag::Details details;
  relate(details.related, type);
  if (h.attention() % ranks != 0) {
    details.why = "an all-to-all gives every rank whole heads of the whole sequence";
    details.help = {fmt::format(
        "use {}",
        choices(setting.key, nearest_divisors(std::gcd(h.attention(), h.attention() / tp), cp)))};
    findings.push_back(finding("CP318", setting.span,
                               fmt::format("{} attention heads do not divide over {} {} * TP {}",
                                           h.attention(), setting.key, cp, tp),
                               details));
  } else if (h.key_value() >= 1 && h.key_value() % ranks != 0) {
    const bool copies = ranks % h.key_value() == 0;
    details.why =
        "key-value heads can only be copied to a whole number of ranks, whose gradients are "
        "summed; "
        "TransformerEngine refuses it";
    details.help = {fmt::format("use {}: {}, or cp_comm_type: p2p", setting.key,
                                std::max<Index>(1, h.key_value() / tp))};
    findings.push_back(with_severity(
        finding("CP318", setting.span,
                fmt::format("{} key-value heads over an all-to-all of {} ranks{}", h.key_value(),
                            ranks, copies ? " need KV replication" : " do not divide"),
                details),
        copies ? Severity::warning : Severity::error));
  }
}

}  // namespace

void check_model(const Plan& plan, Diagnostics& findings) {
  const Heads heads{plan, model::known_dimensions(plan.config)};
  const auto d = plan::requested_degrees(plan.config);
  check_name(plan, heads.model, findings);
  check_dimensions(heads, findings);
  check_hidden(heads, findings);
  const bool consistent = check_groups(heads, findings);
  check_tensor_parallel(heads, d.tp, findings);
  const bool heads_divide = heads.attention() < 1 || heads.attention() % d.tp == 0;
  if (consistent && heads_divide) check_key_values(heads, d.tp, findings);
  if (heads_divide) check_all_to_all(heads, d.cp, d.tp, findings);
}

}  // namespace cpplan::rules
