// Config files that people use, from the folder that CPPLAN_CORPUS names: none crashes, and an
// error is a real mistake of the file.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "base/files.hpp"
#include "unit/rules/checked.hpp"

using namespace cpplan;
namespace fs = std::filesystem;

namespace {

/// Rules that files of the corpus break for good reason: the framework stops at them, too.
bool is_real_mistake(const std::string& file, const diag::Diagnostic& d) {
  const bool warmup_share = d.id == "CP104" && d.message.starts_with("warmup_steps");
  const bool no_training = file.starts_with("cloud__") && d.id == "CP118";
  const bool tokens_map = d.id == "CP104" && d.message.starts_with("tokens");
  const bool no_output = d.id == "CP106" && d.message.starts_with("output_dir");
  const bool fsdp2_8bit = file == "mistral4__fft-vision.yml" && d.id == "CP370";
  return warmup_share || no_training || tokens_map || no_output || fsdp2_8bit;
}

std::string false_errors(const std::string& name, const std::string& text, Index world) {
  test::Given given;
  given.inputs.world_size = world;
  std::string errors;
  for (const auto& d : test::findings_of(text, given))
    if (d.severity == diag::Severity::error && !is_real_mistake(name, d))
      errors += "\n  " + d.id + ": " + d.message;
  return errors;
}

std::vector<fs::path> files_below(const char* folder, const char* dialect) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(folder) / dialect))
    if (const auto ending = entry.path().extension(); ending == ".yaml" || ending == ".yml")
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// file -> world size, of index.tsv.
std::map<std::string, Index> worlds_of(const char* folder) {
  std::map<std::string, Index> worlds;
  std::istringstream lines(read_file((fs::path(folder) / "megatron/index.tsv").string()).value());
  std::string file, world, rest;
  for (std::getline(lines, rest);
       std::getline(lines, file, '\t') && std::getline(lines, world, '\t');
       std::getline(lines, rest))
    worlds[file] = std::stoll(world);
  return worlds;
}

const char* corpus() {
  const char* folder = std::getenv("CPPLAN_CORPUS");
  if (folder == nullptr) std::cerr << "SKIPPED: corpus (CPPLAN_CORPUS is not set)\n";
  return folder;
}

}  // namespace

TEST_CASE("corpus: no file of axolotl has a false error at a suitable world") {
  const char* folder = corpus();
  if (folder == nullptr) return;
  for (const auto& file : files_below(folder, "axolotl")) {
    const std::string name = file.filename().string(), text = read_file(file.string()).value();
    std::string errors = "-";
    for (const Index world : {8, 4, 2, 1, 16})
      if (!errors.empty()) errors = false_errors(name, text, world);
    CAPTURE(name);
    CHECK(errors == "");
  }
}

TEST_CASE("corpus: no file of Megatron has an error on the ranks it ran on") {
  const char* folder = corpus();
  if (folder == nullptr) return;
  const auto worlds = worlds_of(folder);
  CHECK(worlds.size() > 100);
  for (const auto& [name, world] : worlds) {
    const auto path = fs::path(folder) / "megatron" / name;
    CAPTURE(name);
    CHECK(false_errors(name, read_file(path.string()).value(), world) == "");
  }
}
