#pragma once
// A config's text all the way to its findings, with flags and variables as on a command line.
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "config/load.hpp"
#include "data/lengths.hpp"
#include "plan/make_plan.hpp"
#include "rules/check.hpp"

namespace cpplan::test {

/// "--world-size 8 --set a=b SLURM_NTASKS=8"
struct Given {
  plan::PlanInputs inputs;
  std::vector<config::Override> overrides;
  cluster::Variables variables;
};

inline std::pair<std::string, std::string> split_at_equals(const std::string& word) {
  const auto equals = word.find('=');
  return {word.substr(0, equals), word.substr(equals + 1)};
}

inline Given read_given(const std::string& line) {
  Given given;
  std::istringstream words(line);
  for (std::string word, value; words >> word;) {
    if (!word.starts_with("--")) {
      given.variables.insert(split_at_equals(word));
      continue;
    }
    words >> value;
    if (word == "--set") {
      const auto [key, text] = split_at_equals(value);
      given.overrides.push_back({key, text});
      continue;
    }
    auto& in = given.inputs;
    if (word == "--lengths") {  // - <<< 9000
      std::string here;
      words >> here >> value;
      auto rows = std::make_shared<data::RowLengths>();
      rows->rows = {static_cast<data::Length>(std::stoll(value))};
      in.lengths = std::move(rows);
      continue;
    }
    auto& target = word == "--world-size"      ? in.world_size
                   : word == "--nodes"         ? in.nodes
                   : word == "--gpus-per-node" ? in.gpus_per_node
                   : word == "--rows"          ? in.rows
                   : word == "--train-rows"    ? in.train_rows
                   : word == "--total-tokens"  ? in.total_tokens
                   : word == "--eval-tokens"   ? in.eval_tokens
                                               : in.global_batch;
    target = std::stoll(value);
  }
  return given;
}

struct Checked {
  std::optional<plan::Plan> plan;  // none where the text is no config
  diag::Diagnostics findings;
};

inline Checked check(const std::string& text, const Given& given) {
  auto loaded = config::load_config_text("train.yaml", text, given.overrides);
  Checked checked{std::nullopt, loaded.diagnostics};
  if (!loaded.config) return checked;
  checked.plan =
      plan::make_plan(*loaded.config, given.inputs, cluster::read_environment(given.variables));
  auto& all = checked.findings;
  for (const auto& more : {checked.plan->diagnostics, rules::check(*checked.plan)})
    all.insert(all.end(), more.begin(), more.end());
  diag::sort_by_place(all);
  return checked;
}

inline diag::Diagnostics findings_of(const std::string& text, const Given& given) {
  return check(text, given).findings;
}

inline std::string listing(const diag::Diagnostics& findings) {
  std::string text;
  for (const auto& d : findings) text += "\n  " + d.id + ": " + d.message;
  return text;
}

inline bool has_rule(const diag::Diagnostics& findings, std::string_view id) {
  for (const auto& d : findings)
    if (d.id == id) return true;
  return false;
}

}  // namespace cpplan::test
