// Megatron's global batch: a whole number of micro-batches on every data-parallel rank, constant,
// ramped up or by a schedule.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "plan/batch.hpp"
#include "rules/areas.hpp"
#include "rules/support.hpp"

namespace cpplan::rules {
namespace {
using config::Setting;
using diag::Diagnostics;
using plan::Plan;

/// Rows of one micro-batch over all data-parallel ranks; none beyond 64 bits.
std::optional<Index> rows_of_micro_batch(const Plan& plan) {
  return checked_multiply(plan.batch.micro_batch_size, plan.layout.dims.dp);
}

std::string product_text(const Plan& plan, Index micro, Index unit) {
  return fmt::format("micro {} * DP {} = {}", micro, plan.layout.dims.dp, unit);
}

/// True where the degrees leave a DP that a batch can be judged by.
bool has_whole_blocks(const Plan& plan) {
  const auto& dims = plan.layout.dims;
  const auto ranks = checked_product(dims.tp, dims.cp, dims.pp, dims.dp);
  return ranks && *ranks == plan.world.size;
}

void check_divisible(const Plan& plan, const Setting<Index>& batch, Index micro,
                     const char* micro_name, Diagnostics& findings) {
  const auto unit = checked_multiply(micro, plan.layout.dims.dp);
  if (!batch.given() || *batch < 1 || !unit || *batch % *unit == 0) return;
  report("CP320", batch,
         fmt::format("{} {} is not divisible by {}", batch.key, *batch,
                     product_text(plan, micro, *unit)))
      .why("a step is a whole number of micro-batches on every data-parallel rank")
      .help(fmt::format("use {}", choices(batch.key, nearest_multiples(*unit, *batch))))
      .help(*batch % plan.layout.dims.dp == 0
                ? fmt::format("or {}",
                              choices(micro_name,
                                      nearest_divisors(*batch / plan.layout.dims.dp, micro, micro)))
                : "")
      .see(plan.config.batch.micro_batch_size)
      .to(findings);
}

void check_positive(const Setting<Index>& batch, Index works, Diagnostics& findings) {
  if (!batch.given() || *batch >= 1) return;
  report("CP119", batch, fmt::format("{} is {} (it must be at least 1)", batch.key, *batch))
      .why("a step takes rows")
      .help(fmt::format("use {}: {}", batch.key, works))
      .to(findings);
}

/// Batch sizes that change with the tokens or samples seen: "0:32 90B:64".
struct Stage {
  double threshold = 0;
  Index size = 0;
};

/// "90B" -> 9e10; none where it is no number.
std::optional<double> read_threshold(std::string_view word) {
  double scale = 1;
  if (!word.empty()) switch (word.back()) {
      case 'K':
        scale = 1e3;
        break;
      case 'M':
        scale = 1e6;
        break;
      case 'B':
        scale = 1e9;
        break;
      case 'T':
        scale = 1e12;
        break;
      default:
        break;
    }
  if (scale > 1) word.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value * scale;
}

std::optional<Stage> read_stage(std::string_view word) {
  const auto colon = word.find(':');
  if (colon == word.npos) return std::nullopt;
  const auto threshold = read_threshold(word.substr(0, colon));
  const std::string_view size = word.substr(colon + 1);
  Stage stage{threshold.value_or(-1), 0};
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), stage.size);
  const bool is_number = error == std::errc() && end == size.data() + size.size();
  return threshold && is_number ? std::optional(stage) : std::nullopt;
}

/// What is wrong with a schedule, in words; empty where nothing is.
std::string fault_of(const std::string& schedule, Index unit) {
  std::istringstream words(schedule);
  double last = -1;
  for (std::string word; words >> word;) {
    const auto stage = read_stage(word);
    if (!stage) return fmt::format("\"{}\" is not threshold:size", word);
    if (last < 0 && stage->threshold != 0) return "the first threshold is not 0";
    if (stage->threshold <= last) return fmt::format("the threshold of \"{}\" does not grow", word);
    if (stage->size < 1) return fmt::format("the size of \"{}\" is not positive", word);
    if (stage->size % unit != 0)
      return fmt::format("the size {} is not divisible by micro * DP = {}", stage->size, unit);
    last = stage->threshold;
  }
  return last < 0 ? "it is empty" : "";
}

void check_schedule_text(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  const auto unit = rows_of_micro_batch(plan);
  if (!m.step_batch_size_schedule.given() || !unit) return;
  const std::string fault = fault_of(*m.step_batch_size_schedule, *unit);
  if (!fault.empty())
    report("CP323", m.step_batch_size_schedule,
           fmt::format("{}: {}", m.step_batch_size_schedule.key, fault))
        .why("from each threshold on a step takes the size behind the colon")
        .help(fmt::format("write for example {}: \"0:{} 90B:{}\"", m.step_batch_size_schedule.key,
                          *unit, checked_multiply(2, *unit).value_or(*unit)))
        .see(plan.config.batch.micro_batch_size)
        .to(findings);
  for (const auto* other : {&m.decrease_batch_size_if_needed})
    if (other->value_or(false))
      report(
          "CP115", *other,
          fmt::format("{} and {} exclude each other", other->key, m.step_batch_size_schedule.key))
          .why("a schedule says every size exactly")
          .help(fmt::format("remove {}", other->key))
          .see(m.step_batch_size_schedule)
          .to(findings);
}

void check_exclusive(const Plan& plan, Diagnostics& findings) {
  const auto& m = plan.config.megatron;
  if (!m.step_batch_size_schedule.given() || !m.global_batch_size.given()) return;
  report("CP115", m.step_batch_size_schedule,
         fmt::format("{} and {} exclude each other", m.global_batch_size.key,
                     m.step_batch_size_schedule.key))
      .why("the schedule gives the global batch of every step, and Megatron stops at both")
      .help(fmt::format("remove {} or {}", m.global_batch_size.key, m.step_batch_size_schedule.key))
      .see(m.global_batch_size)
      .to(findings);
}

/// start, increment, samples: every size on the way is a batch, too.
void check_ramp(const Plan& plan, Diagnostics& findings) {
  const auto& ramp = plan.config.megatron.rampup_batch_size;
  const auto& global = plan.config.megatron.global_batch_size;
  const auto unit = rows_of_micro_batch(plan);
  if (!ramp.given() || !unit) return;
  const bool three = (*ramp).size() == 3;
  const bool whole = three && (*ramp)[0] >= 1 && (*ramp)[1] >= 1 && (*ramp)[0] % *unit == 0 &&
                     (*ramp)[1] % *unit == 0;
  const bool arrives =
      whole &&
      (!global.given() || (*global >= (*ramp)[0] && (*global - (*ramp)[0]) % (*ramp)[1] == 0));
  if (arrives) return;
  report("CP323", ramp,
         !three   ? fmt::format("{} takes start, increment and samples", ramp.key)
         : !whole ? fmt::format("{} steps through sizes that {} does not divide", ramp.key,
                                product_text(plan, plan.batch.micro_batch_size, *unit))
                  : fmt::format("{} never arrives at {} {}", ramp.key, global.key, *global))
      .why("a batch grows from start by increment up to the global batch")
      .help(fmt::format("start at {0} and grow by {0}, or by a multiple of it", *unit))
      .see(global)
      .to(findings);
}

void check_packed_rl(const Plan& plan, Diagnostics& findings) {
  const auto& packing = plan.config.megatron.rl_use_sequence_packing;
  const auto& micro = plan.config.batch.micro_batch_size;
  if (!packing.value_or(false) || micro.value_or(1) <= 1) return;
  report("CP310", micro,
         fmt::format("{} is {}, but must be 1 with {}", micro.key, *micro, packing.key))
      .why("the sequences of a micro-batch are packed into one row")
      .help(fmt::format("use {}: 1", micro.key))
      .see(packing)
      .to(findings);
}

}  // namespace

void check_global_batch(const Plan& plan, Diagnostics& findings) {
  if (!is_megatron(plan)) return;
  const auto& m = plan.config.megatron;
  check_positive(m.global_batch_size, rows_of_micro_batch(plan).value_or(1), findings);
  check_exclusive(plan, findings);
  check_packed_rl(plan, findings);
  if (!has_whole_blocks(plan) || is_unreadable(plan.config.batch.micro_batch_size)) return;
  const std::string micro_name = spelled_by_dialect(plan, "micro_batch_size");
  const bool fixed = !m.decrease_batch_size_if_needed.value_or(false);
  if (fixed)
    check_divisible(plan, m.global_batch_size, plan.batch.micro_batch_size, micro_name.c_str(),
                    findings);
  check_divisible(plan, m.eval_global_batch_size, plan.batch.eval_batch_size,
                  "eval_micro_batch_size", findings);
  check_schedule_text(plan, findings);
  check_ramp(plan, findings);
}

}  // namespace cpplan::rules
