#include "app/run_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "record/stragglers.hpp"
#include "report/table.hpp"

namespace cpplan::app {
namespace {

/// Ranks that sent alike.
struct Class {
  int rank = 0;
  Index ranks = 0;
  Bytes planned, measured;
};

std::vector<Class> classes_of(const std::vector<record::TrafficRecord>& rows) {
  std::vector<Class> classes;
  for (const auto& row : rows) {
    if (classes.empty() || classes.back().rank != row.rank)
      classes.push_back({row.rank, row.ranks, {}, {}});
    classes.back().planned += row.planned;
    classes.back().measured += row.measured;
  }
  return classes;
}

std::string commented(const std::string& lines) {
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    text += '#' + lines.substr(at, end + 1 - at);
    at = end + 1;
  }
  return text;
}

/// By group and collective, of the ranks that sent most.
std::string traffic_table(const record::RunRecord& record, const Class& heaviest) {
  using report::Align;
  report::Table table({{"group"},
                       {"collective"},
                       {"messages", Align::right},
                       {"planned", Align::right},
                       {"measured", Align::right}});
  for (const auto& row : record.communication)
    if (row.rank == heaviest.rank)
      table.add({row.group, row.collective, with_thousands(row.messages),
                 with_thousands(row.planned.count), with_thousands(row.measured.count)});
  return commented(table.text());
}

std::string traffic_text(const record::RunRecord& record) {
  const auto classes = classes_of(record.communication);
  if (classes.empty()) return "# one rank sends nothing\n";
  Bytes planned, measured;
  for (const Class& alike : classes) {
    planned += alike.ranks * alike.planned;
    measured += alike.ranks * alike.measured;
  }
  const auto heaviest = std::ranges::max_element(
      classes, [](const Class& a, const Class& b) { return a.planned < b.planned; });
  return fmt::format("# bytes sent by rank {}, one of the {} that send most\n", heaviest->rank,
                     heaviest->ranks) +
         traffic_table(record, *heaviest) +
         fmt::format("# sent by all {} ranks: planned {} bytes, measured {}\n", record.dims.world(),
                     with_thousands(planned.count), with_thousands(measured.count));
}

std::string memory_text(const record::MemoryRecord& memory) {
  const auto heaviest = std::ranges::max_element(
      memory.ranks, {}, [](const auto& rank) { return rank.planned_peak.count; });
  std::string text =
      fmt::format("# peak memory of a rank: planned {}, measured {}",
                  human_bytes(memory.planned_peak), human_bytes(memory.measured_peak));
  if (heaviest != memory.ranks.end() && heaviest->resident_peak)
    text += fmt::format("; the process of rank {} grew by {}", heaviest->rank,
                        human_bytes(*heaviest->resident_peak));
  return text + '\n';
}

std::string time_text(const record::TimeRecord& time) {
  const std::string predicted =
      time.predicted ? fmt::format("predicted {:.4g} s, ", *time.predicted) : "";
  return fmt::format("# time of a step: {}measured {:.4g} s\n", predicted, time.measured);
}

std::string straggler_text(const record::RunRecord& record) {
  std::string text;
  for (const std::string& sentence : record::straggler_sentences(record))
    text += fmt::format("# {}\n", sentence);
  return text;
}

/// Between devices, the ranks find out what suits them.
std::string carrier_of(device::Backend backend, Transport transport) {
  const bool on_host = backend == device::Backend::cpu;
  const std::string on = on_host ? "" : std::string(device::name_of(backend));
  const std::string_view by = transport == Transport::threads                 ? "threads"
                              : transport == Transport::nccl                  ? "nccl"
                              : transport == Transport::automatic && !on_host ? ""
                                                                              : "mpi";
  return on.empty() || by.empty() ? fmt::format("{}{}", on, by) : fmt::format("{}, {}", on, by);
}

}  // namespace

std::string run_header(const PreparedRun& prepared, Transport transport) {
  const auto& plan = *prepared.checked.plan;
  const auto& dims = plan.layout.dims;
  const std::string carrier = carrier_of(prepared.backend, transport);
  return fmt::format(
      "# cpplan {}  {}  TP {} x CP {} x PP {} x DP {} = {} ranks ({})  {} samples of up to {} "
      "tokens a step  {} steps\n{:>6}  {:>9}  {:>10}  {:>13}  {:>9}\n",
      CPPLAN_VERSION, plan.model->name, dims.tp, dims.cp, dims.pp, dims.dp, dims.world(), carrier,
      prepared.run.samples_per_step(), plan.batch.sequence_len, prepared.run.steps, "step", "loss",
      "grad norm", "learning rate", "tokens/s");
}

std::string step_line(const record::StepRecord& step) {
  return fmt::format("{:>6}  {:>9.5f}  {:>10.4g}  {:>13.4e}  {:>9.0f}\n", step.step, step.loss,
                     step.grad_norm, step.learning_rate, step.tokens_per_second);
}

std::string run_summary(const record::RunRecord& record, const train::TrainingData& data) {
  if (record.steps.empty()) return "# every step was taken before: nothing was left to do\n";
  return fmt::format(
             "# loss {:.4f} -> {:.4f} nats a token; entropy of the text ({} bytes): {:.4f} of "
             "single bytes (unigram), {:.4f} given the byte before (bigram)\n",
             record.steps.front().loss, record.steps.back().loss, with_thousands(data.bytes),
             data.entropy.unigram, data.entropy.bigram) +
         traffic_text(record) + memory_text(record.memory) + time_text(record.time) +
         straggler_text(record);
}

}  // namespace cpplan::app
