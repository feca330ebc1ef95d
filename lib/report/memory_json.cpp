#include "report/memory_json.hpp"

#include <fmt/format.h>

#include "plan/engine_settings.hpp"
#include "report/json_values.hpp"

namespace cpplan::report {
namespace {

const char* name_of(plan::MemoryKind kind) {
  constexpr const char* names[] = {"parameters", "gradients", "optimizer", "activations",
                                   "transient"};
  return names[static_cast<int>(kind)];
}

const char* name_of(plan::Fit fit) {
  constexpr const char* names[] = {"unknown", "fits", "exceeds"};
  return names[static_cast<int>(fit)];
}

Json terms_json(const std::vector<plan::MemoryTerm>& terms) {
  Json json = Json::array();
  for (const plan::MemoryTerm& term : terms)
    json.push_back(Json::Object{{"kind", name_of(term.kind)},
                                {"name", term.name},
                                {"formula", term.formula},
                                {"bytes", term.bytes}});
  return json;
}

Json framework_json(const plan::FrameworkMemory& m) {
  return Json::Object{{"framework_name", m.framework},
                      {"sharding", m.sharding},
                      {"framework_parameter_bytes", m.parameters},
                      {"framework_gradient_bytes", m.gradients},
                      {"framework_optimizer_bytes", m.optimizer},
                      {"framework_activation_bytes", m.activations},
                      {"framework_transient_bytes", m.transient},
                      {"framework_total_bytes", m.total},
                      {"peak", m.peak},
                      {"trainable_parameters", m.trainable_parameters},
                      {"heaviest_stage", m.heaviest_stage},
                      {"framework_heaviest_rank", m.heaviest_rank},
                      {"gpu", m.gpu.empty() ? Json() : Json(m.gpu)},
                      {"gpu_bytes", or_null(m.gpu_bytes)},
                      {"fit", name_of(m.fit)},
                      {"terms", terms_json(m.terms)},
                      {"assumptions", m.assumptions}};
}

Json engine_json(const plan::EngineMemory& m, std::string_view dtype) {
  Json json = Json::Object{{"engine_dtype", std::string(dtype)},
                           {"parameter_bytes", m.parameters},
                           {"gradient_bytes", m.gradients},
                           {"optimizer_bytes", m.optimizer},
                           {"activation_bytes", m.activations},
                           {"buffer_bytes", m.buffers},
                           {"remote_row_bytes", m.remote},
                           {"total_bytes", m.total},
                           {"heaviest_rank", m.heaviest_rank},
                           {"peak_moment", peak_moment(m)},
                           {"peak_action", m.peak_action},
                           {"peak_layer", or_null(m.peak_layer)},
                           {"peak_micro_batch", or_null(m.peak_micro_batch)},
                           {"peak_parameter_bytes", m.peak.parameters},
                           {"peak_gradient_bytes", m.peak.gradients},
                           {"peak_optimizer_bytes", m.peak.optimizer},
                           {"peak_activation_bytes", m.peak.activations},
                           {"peak_buffer_bytes", m.peak.buffers},
                           {"peak_held_bytes", m.peak.total}};
  if (m.snapshot > Bytes{}) json["snapshot_bytes"] = m.snapshot;
  return json;
}

}  // namespace

std::string peak_moment(const plan::EngineMemory& m) {
  if (!m.peak_micro_batch) return "sum of the gradients and update";
  const std::string of = fmt::format("micro-batch {}", *m.peak_micro_batch);
  if (m.peak_action == "loss") return "loss of " + of;
  const std::string where =
      m.peak_layer ? fmt::format("layer {}", *m.peak_layer) : std::string("the embedding");
  return fmt::format("{} of {}, {}", m.peak_action, where, of);
}

Json memory_json(const plan::Plan& plan) {
  const auto& framework = plan.framework_memory;
  const auto& engine = plan.engine_memory;
  return Json::Object{
      {"framework", framework ? framework_json(*framework) : Json()},
      {"engine",
       engine ? engine_json(*engine, plan::name_of(plan::dtype_of(plan.config))) : Json()},
      {"logits_fp32_bytes_per_rank", or_null(plan.logits_fp32_bytes_per_rank)}};
}

}  // namespace cpplan::report
