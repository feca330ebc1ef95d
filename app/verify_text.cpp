#include "app/verify_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/table.hpp"

namespace cpplan::app {
namespace {

Json layout_json(const layout::ParallelDims& dims) {
  return Json::Object{{"tp", dims.tp},
                      {"cp", dims.cp},
                      {"pp", dims.pp},
                      {"dp", dims.dp},
                      {"sequence_parallel", dims.sequence_parallel},
                      {"world_size", dims.world()}};
}

Json steps_json(const train::Verification& v) {
  Json steps = Json::array();
  for (std::size_t i = 0; i < v.in_layout.losses.size(); ++i)
    steps.push_back(Json::Object{{"step", static_cast<Index>(i) + 1},
                                 {"loss", v.in_layout.losses[i]},
                                 {"one_rank_loss", v.on_one_rank.losses[i]},
                                 {"loss_difference", v.loss_difference(i)},
                                 {"grad_norm", v.in_layout.grad_norms[i]},
                                 {"one_rank_grad_norm", v.on_one_rank.grad_norms[i]},
                                 {"grad_norm_difference", v.grad_norm_difference(i)}});
  return steps;
}

Json parameters_json(const train::Verification& v) {
  Json parameters = Json::object();
  for (const auto& gradient : v.gradients)
    parameters.append_member(gradient.parameter, Json::Object{{"distance", gradient.distance},
                                                              {"grad_norm", gradient.norm}});
  return parameters;
}

std::string steps_text(const train::Verification& v) {
  using report::Align;
  report::Table table({{"step", Align::right},
                       {"loss", Align::right},
                       {"on one rank", Align::right},
                       {"difference", Align::right},
                       {"grad norm", Align::right},
                       {"on one rank", Align::right},
                       {"difference", Align::right}});
  for (std::size_t i = 0; i < v.in_layout.losses.size(); ++i)
    table.add({std::to_string(i + 1), fmt::format("{:.6f}", v.in_layout.losses[i]),
               fmt::format("{:.6f}", v.on_one_rank.losses[i]),
               fmt::format("{:.1e}", v.loss_difference(i)),
               fmt::format("{:.5g}", v.in_layout.grad_norms[i]),
               fmt::format("{:.5g}", v.on_one_rank.grad_norms[i]),
               fmt::format("{:.1e}", v.grad_norm_difference(i))});
  return table.text();
}

std::string verdict_text(const train::Verification& v) {
  const auto& worst = v.worst();
  std::string text =
      fmt::format("worst gradient of step 1: {}, off by {:.1e} of its norm (bound {:.2g})\n",
                  worst.parameter, worst.distance, v.bounds.gradient);
  if (v.broken().empty())
    text += fmt::format(
        "the layout holds: {} gradients, and the loss and gradient norm of every step, are those "
        "of one rank\n",
        v.gradients.size());
  return text;
}

}  // namespace

std::string verify_text(const train::Verification& v, const PreparedRun& prepared) {
  const auto& dims = prepared.run.job.dims;
  return fmt::format("# cpplan {}  {}  TP {} x CP {} x PP {} x DP {} = {} ranks beside one rank\n",
                     CPPLAN_VERSION, prepared.run.job.model.name, dims.tp, dims.cp, dims.pp,
                     dims.dp, dims.world()) +
         steps_text(v) + verdict_text(v);
}

Json verify_json(const train::Verification& v, const PreparedRun& prepared) {
  const auto& worst = v.worst();
  return Json::Object{
      {"schema", "cpplan/verify/1"},
      {"layout", layout_json(prepared.run.job.dims)},
      {"steps", steps_json(v)},
      {"parameters", parameters_json(v)},
      {"worst", Json::Object{{"parameter", worst.parameter}, {"distance", worst.distance}}},
      {"bounds", Json::Object{{"loss", v.bounds.loss},
                              {"grad_norm", v.bounds.grad_norm},
                              {"gradient", v.bounds.gradient}}},
      {"holds", v.broken().empty()},
      {"broken", v.broken()}};
}

}  // namespace cpplan::app
