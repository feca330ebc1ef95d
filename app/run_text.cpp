#include "app/run_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace cpplan::app {
namespace {

struct Sent {
  Bytes planned, measured;
};

Sent sum(const std::vector<record::TrafficRecord>& rows) {
  Sent sent;
  for (const auto& row : rows) sent.planned += row.planned, sent.measured += row.measured;
  return sent;
}

}  // namespace

std::string run_header(const PreparedRun& prepared, Transport transport) {
  const auto& plan = *prepared.checked.plan;
  const auto& dims = plan.layout.dims;
  const std::string_view carrier = transport == Transport::mpi ? "mpi" : "threads";
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
  const Sent sent = sum(record.communication);
  return fmt::format(
      "# loss {:.4f} -> {:.4f} nats a token; entropy of the text ({} bytes): {:.4f} of single "
      "bytes (unigram), {:.4f} given the byte before (bigram)\n"
      "# sent by one rank of each stage: planned {} bytes, measured {}\n"
      "# peak memory of a rank: planned {}, measured {}\n",
      record.steps.front().loss, record.steps.back().loss, with_thousands(data.bytes),
      data.entropy.unigram, data.entropy.bigram, with_thousands(sent.planned.count),
      with_thousands(sent.measured.count), human_bytes(record.memory.planned_peak),
      human_bytes(record.memory.measured_peak));
}

}  // namespace cpplan::app
