// Worked cases with the right answers, from the folder that CPPLAN_CASES names: each YAML file goes
// all the way to a plan and its findings, and every number that we compute is compared.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/load.hpp"
#include "plan/make_plan.hpp"
#include "rules/check.hpp"
#include "support/worked_case.hpp"

using namespace cpplan;
namespace fs = std::filesystem;

namespace {

using test::Facts, test::number, test::read_facts;

/// "A=1 B=2"; "A=1, B unset" says nothing of B.
cluster::Variables environment_of(const Facts& facts) {
  cluster::Variables variables;
  const auto found = facts.find("given.env");
  std::istringstream words(found == facts.end() ? "" : found->second);
  for (std::string word; words >> word;) {
    if (word.ends_with(',')) word.pop_back();
    const auto equals = word.find('=');
    if (equals != std::string::npos) variables[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return variables;
}

plan::PlanInputs inputs_of(const Facts& facts) {
  plan::PlanInputs inputs;
  inputs.world_size = number(facts, "given.world_size");
  inputs.rows = number(facts, "given.rows");
  if (!inputs.rows) inputs.rows = number(facts, "given.rows_before_split");
  inputs.train_rows = number(facts, "given.train_rows");
  inputs.gpus_per_node = number(facts, "given.gpus_per_node");
  return inputs;
}

/// Data that is not rows and launch lines are read by the program alone; its own test has those.
bool is_supported(const Facts& facts) {
  for (const char* later : {"given.total_num_tokens", "given.row_lengths", "given.doc_lengths",
                            "given.command", "given.uid", "given.eval_tokens"})
    if (facts.contains(later)) return false;
  return true;
}

std::map<std::string, std::optional<Index>> numbers_of(const plan::Plan& p) {
  const auto& contiguous = p.framework_layout;
  const auto& head_tail = p.engine_layout;
  return {{"world_size", p.world.size},
          {"effective_world_size", p.batch.effective_world_size},
          {"batch_size", p.batch.batch_size},
          {"eval_batch_size", p.batch.eval_batch_size},
          {"gradient_accumulation_steps", p.batch.gradient_accumulation_steps},
          {"sequence_len", p.batch.sequence_len},
          {"total_num_steps", p.steps.total_num_steps},
          {"trainer_max_steps", p.steps.trainer_max_steps},
          {"warmup_steps", p.steps.warmup_steps},
          {"rows_after_shard", p.steps.rows_after_shard},
          {"train_rows", p.steps.train_rows},
          {"eval_rows", p.steps.eval_rows},
          {"dp_shard_size", p.layout.dp_shard},
          {"dp_replicate_size", p.layout.dp_replicate},
          {"tensor_parallel_size", p.layout.dims.tp},
          {"context_parallel_size", p.layout.dims.cp},
          {"padded_len", contiguous.padded_sequence_len},
          {"padded_len_contiguous", contiguous.padded_sequence_len},
          {"local_len_contiguous", contiguous.chunk_tokens},
          {"padded_len_head_tail", head_tail.padded_sequence_len},
          {"chunk_head_tail", head_tail.chunk_tokens},
          {"pad_tokens", head_tail.pad_tokens}};
}

std::string status_of(const diag::Diagnostics& findings) {
  const auto summary = diag::summarize(findings);
  return summary.errors > 0 ? "error" : summary.warnings > 0 ? "warn" : "ok";
}

std::string listing(const diag::Diagnostics& findings) {
  std::string text;
  for (const auto& d : findings) text += "\n  " + d.id + ": " + d.message;
  return text;
}

/// Keys of the file that the diagnosis names: words with an underscore.
std::vector<std::string> keys_named(const std::string& diagnosis, const std::string& yaml) {
  std::vector<std::string> keys;
  std::string word;
  for (const char c : diagnosis + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    if (word.find('_') != word.npos && yaml.find(word + ":") != yaml.npos) keys.push_back(word);
    word.clear();
  }
  return keys;
}

/// A finding as bad as the verdict speaks of one of the keys that the diagnosis names.
bool says_it(const diag::Diagnostics& findings, const std::string& status,
             const std::vector<std::string>& keys) {
  const auto wanted = status == "error" ? diag::Severity::error : diag::Severity::warning;
  return std::ranges::any_of(findings, [&](const diag::Diagnostic& d) {
    std::string text = d.message + d.why;
    for (const auto& help : d.help) text += help;
    for (const auto& related : d.related) text += related.message;
    return d.severity == wanted && std::ranges::any_of(keys, [&](const std::string& key) {
             return text.find(key) != text.npos;
           });
  });
}

struct Outcome {
  plan::Plan plan;
  diag::Diagnostics findings;
};

Outcome run_case(const fs::path& yaml, const Facts& facts) {
  auto loaded = config::load_config_text(yaml.filename().string(), read_file(yaml).value());
  Outcome outcome{{}, loaded.diagnostics};
  if (!loaded.config) return outcome;
  outcome.plan = plan::make_plan(*loaded.config, inputs_of(facts),
                                 cluster::read_environment(environment_of(facts)));
  for (const auto& more : {outcome.plan.diagnostics, rules::check(outcome.plan)})
    outcome.findings.insert(outcome.findings.end(), more.begin(), more.end());
  return outcome;
}

void check_numbers(const plan::Plan& plan, const Facts& facts) {
  for (const auto& [key, value] : numbers_of(plan)) {
    const auto wanted = number(facts, key);
    if (!wanted) continue;
    CAPTURE(key);
    REQUIRE(value);
    CHECK(*value == *wanted);
  }
}

}  // namespace

TEST_CASE("cases: every supported one gets its verdict and its numbers") {
  const char* folder = std::getenv("CPPLAN_CASES");
  if (folder == nullptr) {
    std::cerr << "SKIPPED: worked cases (CPPLAN_CASES is not set)\n";
    return;
  }
  int checked = 0, later = 0;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".expect") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const Facts facts = read_facts(file);
    if (!is_supported(facts)) {
      ++later;
      continue;
    }
    ++checked;
    const auto outcome = run_case(fs::path(file).replace_extension(".yaml"), facts);
    const std::string name = file.stem().string(), findings = listing(outcome.findings);
    CAPTURE(name);
    CAPTURE(findings);
    CHECK(status_of(outcome.findings) == facts.at("status"));
    check_numbers(outcome.plan, facts);
    if (facts.at("status") == "ok" || !facts.contains("diagnosis")) continue;
    const auto yaml = read_file(fs::path(file).replace_extension(".yaml")).value();
    const auto keys = keys_named(facts.at("diagnosis"), yaml);
    if (!keys.empty()) CHECK(says_it(outcome.findings, facts.at("status"), keys));
  }
  std::cout << "worked cases: " << checked << " checked, " << later << " of later kinds\n";
  CHECK(checked > 100);
}
