// Worked cases of rows, packing and steps, from the folder that CPPLAN_CASES names: what the file
// and the given data come to, number for number. tests/unit/rules holds their verdicts.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "base/files.hpp"
#include "config/load.hpp"
#include "plan/make_plan.hpp"
#include "support/worked_case.hpp"

using namespace cpplan;
namespace fs = std::filesystem;

namespace {

using test::Facts, test::number, test::read_facts;

/// "[6, 4]", "[100]*90 + [513]*10": Python's lists, repeated and joined.
std::vector<data::Length> list_of(const std::string& text) {
  std::vector<data::Length> all;
  std::istringstream words(text);
  for (std::string rest; std::getline(words, rest, '[');) {
    const auto close = rest.find(']');
    if (close == std::string::npos) continue;
    std::vector<data::Length> list;
    std::istringstream numbers(rest.substr(0, close));
    for (std::string one; std::getline(numbers, one, ',');) list.push_back(std::stoi(one));
    const auto star = rest.find('*', close);
    const int times = star == std::string::npos ? 1 : std::stoi(rest.substr(star + 1));
    for (int i = 0; i < times; ++i) all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

plan::PlanInputs inputs_of(const Facts& facts) {
  plan::PlanInputs inputs;
  inputs.world_size = number(facts, "given.world_size");
  inputs.rows = number(facts, "given.rows");
  if (!inputs.rows) inputs.rows = number(facts, "given.rows_before_split");
  inputs.train_rows = number(facts, "given.train_rows");
  inputs.total_tokens = number(facts, "given.total_num_tokens");
  inputs.eval_tokens = number(facts, "given.eval_tokens");
  if (facts.contains("given.row_lengths"))
    inputs.lengths = std::make_shared<data::RowLengths>(data::RowLengths{
        list_of(facts.at("given.row_lengths")), data::LengthUnit::tokens, "given.row_lengths"});
  return inputs;
}

using Numbers = std::map<std::string, std::optional<double>>;

void add_packing(const plan::Packing& p, Numbers& numbers) {
  numbers["bins"] = p.bins;
  numbers["data_loader_len"] = p.data_loader_len;
  numbers["sample_packing_eff_est"] = p.sample_packing_eff_est;
}

Numbers numbers_of(const plan::Plan& p) {
  const plan::Steps& s = p.steps;
  Numbers numbers = {
      {"batch_size", p.batch.batch_size},   {"total_num_steps", s.total_num_steps},
      {"upstream_value", s.upstream_value}, {"trainer_max_steps", s.trainer_max_steps},
      {"warmup_steps", s.warmup_steps},     {"rows_after_shard", s.rows_after_shard},
      {"train_rows", s.train_rows},         {"eval_rows", s.eval_rows}};
  if (s.packing) add_packing(*s.packing, numbers);
  return numbers;
}

std::optional<plan::Plan> planned(const fs::path& yaml, const Facts& facts) {
  auto loaded = config::load_config_text(yaml.filename().string(), read_file(yaml).value());
  if (!loaded.config) return std::nullopt;
  return plan::make_plan(*loaded.config, inputs_of(facts), {});
}

/// How many expected numbers were compared.
int check_numbers(const plan::Plan& plan, const Facts& facts) {
  constexpr std::array names = {"batch_size",
                                "total_num_steps",
                                "upstream_value",
                                "trainer_max_steps",
                                "warmup_steps",
                                "rows_after_shard",
                                "train_rows",
                                "eval_rows",
                                "bins",
                                "data_loader_len",
                                "sample_packing_eff_est"};
  const Numbers numbers = numbers_of(plan);
  int compared = 0;
  for (const char* name : names) {
    const auto wanted = facts.find(name);
    if (wanted == facts.end()) continue;
    CAPTURE(name);
    const auto value = numbers.find(name);
    const bool computed = value != numbers.end() && value->second.has_value();
    CHECK(computed);
    if (computed) CHECK(*value->second == std::stod(wanted->second));
    ++compared;
  }
  return compared;
}

}  // namespace

TEST_CASE("cases: rows, packing and steps to the unit") {
  const char* folder = std::getenv("CPPLAN_CASES");
  if (folder == nullptr) {
    std::cerr << "SKIPPED: worked cases of steps (CPPLAN_CASES is not set)\n";
    return;
  }
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".expect") continue;
    const Facts facts = read_facts(entry.path());
    if (facts.contains("given.env") || facts.contains("given.command")) continue;
    const std::string name = entry.path().stem().string();
    CAPTURE(name);
    const auto plan = planned(fs::path(entry.path()).replace_extension(".yaml"), facts);
    if (plan) compared += check_numbers(*plan, facts);
  }
  CHECK(compared > 90);
}

TEST_CASE("cases: lists are read as Python writes them") {
  CHECK(list_of("[6, 4]") == std::vector<data::Length>{6, 4});
  CHECK(list_of("[1]*2 + [5]") == std::vector<data::Length>{1, 1, 5});
}
