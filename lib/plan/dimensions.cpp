#include "plan/dimensions.hpp"

#include <algorithm>
#include <cmath>

#include "plan/engine_data_parallel.hpp"
#include "plan/make_plan.hpp"
#include "plan/traffic_formulas.hpp"

namespace cpplan::plan {
namespace {

struct Text {
  const char *splits, *copies, *collective;
};

DimensionRow row(const char* name, Index size, const Text& text) {
  return {name, size, text.splits, text.copies, text.collective, std::nullopt};
}

Text tensor_parallel_text(bool sequence_parallel) {
  if (sequence_parallel)
    return {"attention heads, MLP columns, vocabulary; norms and residuals by tokens",
            "norm weights, inputs", "all-gather and reduce-scatter of activations in every layer"};
  return {"attention heads, MLP columns, vocabulary", "norms, residuals, inputs",
          "all-reduce of activations in every layer"};
}

const char* context_parallel_collective(const engine::ContextParallelSettings& settings) {
  if (settings.layer_types.size() > 1) return "exchange of keys and values in every layer";
  switch (settings.layer_types.front()) {
    case engine::CpCommType::p2p:
      return "ring of keys and values in every layer";
    case engine::CpCommType::all_gather:
      return "all-gather of keys and values in every layer";
    case engine::CpCommType::a2a:
      return "all-to-all of heads for tokens in every layer";
    case engine::CpCommType::a2a_p2p:
      return "all-to-all among neighbours and a ring of them in every layer";
  }
  return "";
}

Text data_parallel_text(engine::Sharding sharding) {
  switch (sharding) {
    case engine::Sharding::none:
      break;
    case engine::Sharding::optimizer:
      return {"the global batch, optimizer state", "weights, gradients",
              "reduce-scatter of gradients and all-gather of parameters over DP x CP"};
    case engine::Sharding::parameters:
      return {
          "the global batch, weights, gradients, optimizer state", "layers under way",
          "all-gather of parameters for each pass and reduce-scatter of gradients over DP x CP"};
  }
  return {"the global batch", "weights", "all-reduce of gradients over DP x CP"};
}

/// Groups that a dimension's traffic is counted under.
bool belongs_to(std::string_view dimension, std::string_view group) {
  if (dimension == "cp") return group == "cp" || group == "cp_inner" || group == "cp_outer";
  if (dimension == "dp") return group.starts_with("dp_");
  return group == dimension;
}

/// Formulas run in doubles: a step of a 405B model moves 1e14 bytes, far below 2^53.
Bytes bytes_of(std::string_view dimension, const std::vector<TrafficFormula>& formulas) {
  double sum = 0;
  for (const TrafficFormula& formula : formulas)
    if (belongs_to(dimension, formula.group)) sum += formula.bytes;
  return {static_cast<Index>(std::llround(sum))};
}

}  // namespace

std::vector<DimensionRow> dimension_table(const Plan& plan) {
  const auto& d = plan.layout.dims;
  const auto data_parallel = data_parallel_of(plan);
  std::vector<DimensionRow> table = {
      row("tp", d.tp, tensor_parallel_text(d.sequence_parallel)),
      row("cp", d.cp,
          {"each sequence into chunks", "weights", "ring of keys and values in every layer"}),
      row("pp", d.pp,
          {"layers into stages", "nothing", "activations and gradients between neighbours"}),
      row("dp", d.dp,
          data_parallel_text(data_parallel ? data_parallel->sharding : engine::Sharding::none))};
  const auto job = make_job(plan);
  if (!job) return table;
  table[1].collective = context_parallel_collective(job->context_parallel);
  const auto formulas = traffic_formulas(*job, 0);
  for (DimensionRow& dimension : table)
    dimension.bytes_per_step = bytes_of(dimension.dimension, formulas);
  return table;
}

}  // namespace cpplan::plan
