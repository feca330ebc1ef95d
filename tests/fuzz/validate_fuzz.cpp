// What `validate` and `plan` do with the text of a config, for libFuzzer: no input may crash, hang
// or grow. Each text goes through the whole pipeline as it is and as part of a larger job.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/contract.hpp"
#include "cluster/environment.hpp"
#include "config/load.hpp"
#include "diag/render_concise.hpp"
#include "diag/render_json.hpp"
#include "diag/render_text.hpp"
#include "plan/make_plan.hpp"
#include "report/plan_json.hpp"
#include "report/plan_text.hpp"
#include "rules/check.hpp"

namespace {
using namespace cpplan;

void append(diag::Diagnostics& all, const diag::Diagnostics& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// A finding that points beside the text would mislead, or end an editor.
void check_places(const diag::Diagnostics& findings, const diag::SourceFile& source) {
  for (const auto& finding : findings) {
    if (!finding.span.placed() || finding.span.file != source.name()) continue;
    expect(finding.span.line <= source.line_count(), "a finding lies in the text");
    expect(finding.span.column >= 1, "columns count from 1");
    expect(!finding.message.empty(), "a finding says what it found");
  }
}

void render_all(const diag::Diagnostics& findings, const diag::SourceFile& source) {
  diag::render_text(findings, std::span(&source, 1), diag::Color::always);
  diag::render_concise(findings);
  diag::validate_document(findings).dump();
}

void plan_for(const config::LoadedConfig& loaded, const plan::PlanInputs& inputs) {
  diag::Diagnostics findings = loaded.diagnostics;
  if (loaded.config) {
    const plan::Plan plan = plan::make_plan(*loaded.config, inputs, cluster::Environment{});
    append(findings, plan.diagnostics);
    append(findings, rules::check(plan));
    report::plan_json(plan, findings).dump();
    report::plan_text(plan, diag::Color::never);
  }
  diag::sort_by_place(findings);
  check_places(findings, loaded.source);
  render_all(findings, loaded.source);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const auto loaded = config::load_config_text("fuzz.yaml", text);
  plan_for(loaded, {});
  plan::PlanInputs job;
  job.world_size = 64;
  job.train_rows = 52'002;
  job.total_tokens = 10'000'000;
  job.global_batch = 512;
  plan_for(loaded, job);
  return 0;
}
