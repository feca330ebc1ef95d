// The dimensions of the model, and its heads against the degrees that split them.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "model/registry.hpp"
#include "model/resolve.hpp"
#include "plan/degrees.hpp"
#include "rules/areas.hpp"
#include "rules/fitting.hpp"
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

/// What the config names as the model's source is there, and cannot be used.
void check_source(const Plan& plan, Diagnostics& findings) {
  const auto& settings = plan.config.model;
  const auto report = [&](const Result<void>& source, const diag::Span& span) {
    if (source) return;
    findings.push_back(finding("CP201", span, source.error().message));
    findings.back().severity = diag::Severity::warning;
  };
  report(model::check_model_folder(settings), settings.base_model.span);
  report(model::check_model_type(settings), settings.model_type.span);
}

/// A note only: a folder or an unlisted model is no mistake, but rules on heads then see nothing.
void check_name(const Plan& plan, const model::ModelSpec& known, Diagnostics& findings) {
  const auto& name = plan.config.model.base_model;
  if (!name.given() || known.hidden_size > 0 || model::find_model(*name)) return;
  if (!model::check_model_folder(plan.config.model)) return;
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

/// TP degrees that fit heads and world; where none is near, one with which the world could be left.
std::string fitting_tp(const Heads& h, const std::string& key, Index tp) {
  const auto near = nearest_tp(h.plan, tp);
  if (!near.empty()) return fmt::format("use {}", choices(key, near));
  const Index common =
      std::gcd(std::max<Index>(1, h.attention()), std::max<Index>(1, h.key_value()));
  return fmt::format("use {}, and a world that it divides",
                     choices(key, nearest_divisors(common, tp)));
}

void check_heads_over_tp(const Heads& h, Index tp, Diagnostics& findings) {
  if (h.attention() < 1 || h.attention() % tp == 0) return;
  const auto& setting = h.plan.config.parallel.tensor_parallel_size;
  const std::string key = spelled(h.plan, setting, "tensor_model_parallel_size");
  diag::Details details;
  details.why = "a head is computed whole on one rank";
  details.help = {fitting_tp(h, key, tp)};
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
      is_megatron(h.plan) ? Severity::note : Severity::warning));
}

void check_key_values(const Heads& h, Index tp, Diagnostics& findings) {
  const Index g = h.key_value();
  if (g < 1 || g % tp == 0) return;
  if (tp % g == 0) return report_replication(h, tp, findings);
  if (h.plan.config.megatron.multi_latent_attention.value_or(false)) return;
  const auto& setting = h.plan.config.parallel.tensor_parallel_size;
  diag::Details details;
  details.why = "a rank holds whole key-value heads, or several ranks hold a copy of one";
  details.help = {fitting_tp(h, setting.key, tp)};
  relate(details.related, h.settings().num_key_value_heads);
  findings.push_back(
      finding("CP308", setting.span,
              fmt::format("{} key-value heads are neither a multiple nor a divisor of {} {}", g,
                          setting.key, tp),
              details));
}

}  // namespace

void check_model(const Plan& plan, Diagnostics& findings) {
  const Heads heads{plan, model::known_dimensions(plan.config)};
  const auto d = plan::requested_degrees(plan.config);
  check_source(plan, findings);
  check_name(plan, heads.model, findings);
  check_dimensions(heads, findings);
  check_hidden(heads, findings);
  const bool consistent = check_groups(heads, findings);
  check_heads_over_tp(heads, d.tp, findings);
  const bool heads_divide = heads.attention() < 1 || heads.attention() % d.tp == 0;
  if (consistent && heads_divide) check_key_values(heads, d.tp, findings);
}

}  // namespace cpplan::rules
