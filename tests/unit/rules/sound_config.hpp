#pragma once
// A config that breaks no rule, for tests that break one.
#include <doctest/doctest.h>

#include <string>

#include "plan/make_plan.hpp"
#include "rules/check.hpp"
#include "support/give.hpp"

namespace cpplan::test {

/// A config that breaks no rule: 32 heads, 8 KV heads, 32 layers, 8 ranks.
inline config::TrainingConfig sound() {
  config::TrainingConfig c;
  give(c.batch.micro_batch_size, 1, "micro_batch_size", 1);
  give(c.batch.gradient_accumulation_steps, 8, "gradient_accumulation_steps", 2);
  give(c.batch.sequence_len, 4096, "sequence_len", 3);
  give(c.model.base_model, "meta-llama/Llama-3.1-8B", "base_model", 4);
  give(c.optimizer.learning_rate, 1e-4, "learning_rate", 5);
  give(c.features.attn_implementation, "flash_attention_2", "attn_implementation", 6);
  return c;
}

inline diag::Diagnostics check(const config::TrainingConfig& c, Index world,
                               plan::PlanInputs inputs = {}) {
  inputs.world_size = world;
  return rules::check(plan::make_plan(c, inputs, {}));
}

inline void give_tp(config::TrainingConfig& c, Index n) {
  give(c.parallel.tensor_parallel_size, n, "tensor_parallel_size", 10);
}
inline void give_cp(config::TrainingConfig& c, Index n) {
  give(c.parallel.context_parallel_size, n, "context_parallel_size", 11);
}
inline void give_pp(config::TrainingConfig& c, Index n) {
  give(c.parallel.pipeline_parallel_size, n, "pipeline_parallel_size", 12);
}
inline void give_dp(config::TrainingConfig& c, Index n) {
  give(c.parallel.data_parallel_size, n, "data_parallel_size", 13);
}

/// All that a reader sees of a finding.
inline std::string text_of(const diag::Diagnostic& d) {
  std::string text = d.message + " | " + d.why;
  for (const auto& help : d.help) text += " | " + help;
  return text;
}

inline bool says(const diag::Diagnostic& d, std::string_view words) {
  return text_of(d).find(words) != std::string::npos;
}

/// The one finding, and its id.
inline const diag::Diagnostic& only(const diag::Diagnostics& findings, std::string_view id) {
  for (const auto& d : findings) INFO(d.id, " ", text_of(d));
  REQUIRE(findings.size() == 1);
  REQUIRE(findings[0].id == id);
  return findings[0];
}

}  // namespace cpplan::test
