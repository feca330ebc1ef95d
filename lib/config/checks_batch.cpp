#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "config/checks.hpp"
#include "config/yaml11.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostics;
using diag::finding;

void check_at_least(const Setting<Index>& setting, Index least, Index works,
                    Diagnostics& findings) {
  if (!setting.given() || *setting >= least) return;
  findings.push_back(finding("CP119", setting.span,
                             fmt::format("{} is {} (it must be at least {}). write {}: {}",
                                         setting.key, *setting, least, setting.key, works),
                             {.label = fmt::format("at least {}", least)}));
}

/// A value that does not read, or is 0, has a finding of its own: here it counts as given.
void check_two_of_three(const Node& root, const std::string& file, Diagnostics& findings) {
  const Member* micro = find_given(root, "micro_batch_size");
  const Member* accumulation = find_given(root, "gradient_accumulation_steps");
  const Member* total = find_given(root, "batch_size");
  const Member* only = micro ? micro : accumulation ? accumulation : total;
  if ((micro != nullptr) + (accumulation != nullptr) + (total != nullptr) >= 2) return;
  const std::string_view missing = micro ? "gradient_accumulation_steps: 1"
                                   : only
                                       ? "micro_batch_size: 1"
                                       : "micro_batch_size: 1 and gradient_accumulation_steps: 1";
  findings.push_back(
      finding("CP120", only ? only->key_span : diag::Span{file},
              fmt::format("at least two of micro_batch_size, gradient_accumulation_steps and "
                          "batch_size must be set ({} here). add {}",
                          only ? fmt::format("only {} is", only->key) : "none is", missing),
              {.why = "axolotl counts what the file says, not the defaults of 1"}));
}

void check_exclusive(const BatchSettings& batch, Diagnostics& findings) {
  findings.push_back(finding(
      "CP115", batch.batch_size.key_span,
      "batch_size and gradient_accumulation_steps exclude each other (one follows from the other). "
      "remove batch_size",
      {.related = {{"the accumulation is set here", batch.gradient_accumulation_steps.key_span}}}));
}

/// batch_size with micro_batch_size: only an explicit null of the accumulation is divided out.
void check_batch_size(const BatchSettings& batch, Diagnostics& findings) {
  const Index total = *batch.batch_size, micro = batch.micro_batch_size.value_or(1);
  if (total < 1 || micro < 1) return;
  const bool divided_out = !batch.gradient_accumulation_steps.key.empty();
  const Index accumulation = std::max<Index>(1, total / micro);
  const std::string instead = fmt::format("write gradient_accumulation_steps: {}", accumulation);
  if (total % micro != 0)
    findings.push_back(finding(
        "CP121", batch.batch_size.span,
        fmt::format("batch_size {} is no multiple of micro_batch_size {} (each step uses {} rows "
                    "where {} are counted). {} in its place",
                    total, micro, divided_out ? accumulation * micro : micro, total, instead)));
  else if (!divided_out)
    findings.push_back(finding(
        "CP121", batch.batch_size.key_span,
        fmt::format("batch_size is per data-parallel rank and is multiplied by the effective world "
                    "size (and the accumulation stays at its default 1, so a step uses {} rows a "
                    "rank). {} in its place",
                    micro, instead)));
}

void check_batch_keys(const Node& root, const BatchSettings& batch, const std::string& file,
                      Diagnostics& findings) {
  const bool accumulates = find_given(root, "gradient_accumulation_steps") != nullptr;
  if (batch.batch_size.given() && accumulates)
    check_exclusive(batch, findings);
  else
    check_two_of_three(root, file, findings);
  if (batch.batch_size.given() && batch.micro_batch_size.given() && !accumulates)
    check_batch_size(batch, findings);
}

void check_product(const BatchSettings& batch, Diagnostics& findings) {
  const Index micro = batch.micro_batch_size.value_or(1);
  const Index accumulation = batch.gradient_accumulation_steps.value_or(1);
  if (micro < 1 || accumulation < 1) return;
  if (checked_product(micro, accumulation, batch.sequence_len.value_or(512))) return;
  const Setting<Index>& larger =
      micro >= accumulation ? batch.micro_batch_size : batch.gradient_accumulation_steps;
  findings.push_back(finding("CP117", larger.span,
                             fmt::format("{} * {} rows a step (their tokens overflow 64 bits). "
                                         "write smaller sizes",
                                         with_thousands(micro), with_thousands(accumulation))));
}

void check_epochs(const BatchSettings& batch, Diagnostics& findings) {
  if (!batch.num_epochs.given() || *batch.num_epochs > 0) return;
  findings.push_back(finding(
      "CP119", batch.num_epochs.span,
      fmt::format("num_epochs is {} (it must be above 0). write num_epochs: 1", *batch.num_epochs),
      {.why = "no epoch gives no step, and axolotl divides by saves_per_epoch * num_epochs"}));
}

void check_max_steps(const Setting<Index>& max_steps, Diagnostics& findings) {
  if (!max_steps.given() || *max_steps > 0 || *max_steps == -1) return;
  if (*max_steps == 0)
    return findings.push_back(
        finding("CP116", max_steps.span,
                "max_steps: 0 is ignored (0 counts as not set, and the epochs "
                "decide). remove it, or write the steps you want"));
  findings.push_back(
      finding("CP119", max_steps.span,
              fmt::format("max_steps is {} (a count of steps is above 0). remove it "
                          "to train by num_epochs, or write max_steps: {}",
                          *max_steps, -std::max(*max_steps, -std::numeric_limits<Index>::max()))));
}

void check_validation_size(const Node& root, const Setting<double>& size, Diagnostics& findings) {
  const Member* member = root.find("val_set_size");
  if (member != nullptr && reads_as_null(*member->value.node))
    findings.push_back(finding("CP106", member->key_span,
                               "val_set_size takes no null (axolotl compares it with a number and "
                               "stops). write val_set_size: 0, or remove the key"));
  if (!size.given()) return;
  if (*size < 0)
    findings.push_back(
        finding("CP119", size.span,
                fmt::format("val_set_size is {} (it must be at least 0). write 0 for "
                            "no validation set, or a fraction like 0.05",
                            *size)));
  if (*size == 1)
    findings.push_back(
        finding("CP119", size.span,
                "val_set_size 1 means the fraction 1.0 (nothing is left to train on; "
                "one row cannot be said). write a fraction like 0.05, or 2 rows"));
}

}  // namespace

void check_batch(const Document& document, const TrainingConfig& config, Diagnostics& findings) {
  const BatchSettings& batch = config.batch;
  const Node& root = *document.root.node;
  check_batch_keys(root, batch, config.file, findings);
  check_at_least(batch.micro_batch_size, 1, 1, findings);
  check_at_least(batch.gradient_accumulation_steps, 1, 1, findings);
  check_at_least(batch.batch_size, 1, 1, findings);
  check_at_least(batch.sequence_len, 1, 512, findings);
  check_at_least(batch.eval_batch_size, 1, 1, findings);
  check_at_least(config.optimizer.warmup_steps, 0, 0, findings);
  check_product(batch, findings);
  check_epochs(batch, findings);
  check_max_steps(batch.max_steps, findings);
  check_validation_size(root, batch.val_set_size, findings);
}

}  // namespace cpplan::config
