// Files from outside: worked cases with the right verdict (CPPLAN_CASES) and configs in use
// (CPPLAN_CORPUS).
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/files.hpp"
#include "config/load.hpp"

namespace cpplan::config {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& folder, std::string_view part) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if ((extension == ".yaml" || extension == ".yml") &&
        entry.path().filename().string().find(part) != std::string::npos)
      files.push_back(entry.path());
  }
  return files;
}

/// The value of "status: " in the file of expectations.
std::string expected_status(fs::path file) {
  const std::string text = read_file(file.replace_extension(".expect")).value();
  const auto at = text.find("status: ");
  REQUIRE(at != std::string::npos);
  return text.substr(at + 8, text.find('\n', at) - at - 8);
}

std::string status_of(const LoadedConfig& loaded) {
  const diag::Summary summary = diag::summarize(loaded.diagnostics);
  return summary.errors > 0 ? "error" : summary.warnings > 0 ? "warn" : "ok";
}

std::string messages(const LoadedConfig& loaded) {
  std::string all;
  for (const auto& d : loaded.diagnostics) all += "\n  " + d.id + ": " + d.message;
  return all;
}

TEST_CASE("cases: the verdict on every case about the text of a file") {
  const char* folder = std::getenv("CPPLAN_CASES");
  if (folder == nullptr) {
    MESSAGE("skipped: CPPLAN_CASES is not set");
    return;
  }
  const auto files = files_of(folder, "_yaml_");
  REQUIRE_FALSE(files.empty());
  for (const fs::path& file : files) {
    CAPTURE(file.filename().string());
    const LoadedConfig loaded = load_config(file.string()).value();
    CAPTURE(messages(loaded));
    CHECK(status_of(loaded) == expected_status(file));
  }
}

TEST_CASE("cases: nothing is said about a file that is right") {
  const char* folder = std::getenv("CPPLAN_CASES");
  if (folder == nullptr) {
    MESSAGE("skipped: CPPLAN_CASES is not set");
    return;
  }
  for (const fs::path& file : files_of(folder, "")) {
    if (file.filename().string().find("_meg_") != std::string::npos) continue;
    if (expected_status(file) == "error") continue;
    CAPTURE(file.filename().string());
    const LoadedConfig loaded = load_config(file.string()).value();
    CAPTURE(messages(loaded));
    CHECK(status_of(loaded) != "error");
    if (expected_status(file) == "ok") CHECK(status_of(loaded) == "ok");
  }
}

TEST_CASE("corpus: configs in use have no error but their known mistakes") {
  const char* folder = std::getenv("CPPLAN_CORPUS");
  if (folder == nullptr) {
    MESSAGE("skipped: CPPLAN_CORPUS is not set");
    return;
  }
  // What the framework refuses as well: a fraction for warmup_steps, a mapping for the list
  // `tokens`, null for the text `output_dir`; and files that are no training config.
  const std::set<std::string> mistakes = {"warmup_steps", "tokens", "output_dir"};
  int read = 0;
  for (const fs::path& file : files_of(fs::path(folder) / "axolotl", "")) {
    const LoadedConfig loaded = load_config(file.string()).value();
    ++read;
    for (const auto& d : loaded.diagnostics) {
      CAPTURE(file.filename().string());
      CAPTURE(d.message);
      const std::string key = d.message.substr(0, d.message.find(' '));
      const bool known = mistakes.contains(key) || d.id == "CP118";
      CHECK((d.severity != diag::Severity::error || known));
    }
  }
  CHECK(read > 100);
}

}  // namespace
}  // namespace cpplan::config
