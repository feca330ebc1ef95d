// Settings of a Megatron config that are required or out of range.
#include <fmt/format.h>

#include "config/checks.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostics;
using diag::finding;

template <class T>
bool is_given(const Setting<T>& setting) {
  return setting.given() || setting.span.placed();  // what does not read has a finding of its own
}

void require(const Setting<Index>& setting, std::string_view name, std::string_view example,
             const TrainingConfig& config, Diagnostics& findings) {
  if (is_given(setting)) return;
  findings.push_back(finding(
      "CP105", diag::Span{config.file},
      fmt::format("{0} is required (Megatron has no default). add {0}: {1}", name, example)));
}

void check_at_least(const Setting<Index>& setting, Index least, Diagnostics& findings) {
  if (!setting.given() || *setting >= least) return;
  findings.push_back(finding("CP119", setting.span,
                             fmt::format("{} is {} (it must be at least {}). write {}: {}",
                                         setting.key, *setting, least, setting.key, least),
                             {.label = fmt::format("at least {}", least)}));
}

bool has_model(const TrainingConfig& config) {
  const auto& m = config.megatron;
  return is_given(config.model.num_hidden_layers) || m.hybrid_pattern.given();
}

}  // namespace

void check_megatron_settings(const TrainingConfig& config, Diagnostics& findings) {
  const auto& b = config.batch;
  const auto& m = config.megatron;
  const bool flags = m.form == MegatronForm::model_args;
  require(b.micro_batch_size, flags ? "--micro-batch-size" : "micro_batch_size", "1", config,
          findings);
  if (!has_model(config))
    require(config.model.num_hidden_layers, flags ? "--num-layers" : "num_layers", "32", config,
            findings);
  check_at_least(b.micro_batch_size, 1, findings);
  check_at_least(b.sequence_len, 1, findings);
  check_at_least(m.global_batch_size, 1, findings);
  check_at_least(m.train_iters, 0, findings);
  check_at_least(m.train_samples, 0, findings);
}

}  // namespace cpplan::config
