#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "app/color.hpp"
#include "app/config_files.hpp"
#include "app/flags.hpp"
#include "app/usage.hpp"

namespace cpplan::app {
namespace {

diag::Color color(ColorMode mode, bool is_terminal, std::map<std::string, std::string> variables) {
  return choose_color(mode, is_terminal, [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

constexpr auto colored = diag::Color::always, plain = diag::Color::never;

TEST_CASE("a flag beats the environment") {
  CHECK(color(ColorMode::always, false, {{"NO_COLOR", "1"}}) == colored);
  CHECK(color(ColorMode::never, true, {{"CLICOLOR_FORCE", "1"}}) == plain);
}

TEST_CASE("a terminal that is not dumb gets colours") {
  CHECK(color(ColorMode::automatic, true, {{"TERM", "xterm"}}) == colored);
  CHECK(color(ColorMode::automatic, false, {{"TERM", "xterm"}}) == plain);
  CHECK(color(ColorMode::automatic, true, {{"TERM", "dumb"}}) == plain);
  CHECK(color(ColorMode::automatic, true, {}) == plain);
}

TEST_CASE("NO_COLOR and CLICOLOR_FORCE") {
  CHECK(color(ColorMode::automatic, true, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}) == plain);
  CHECK(color(ColorMode::automatic, true, {{"TERM", "xterm"}, {"NO_COLOR", ""}}) == colored);
  CHECK(color(ColorMode::automatic, false, {{"CLICOLOR_FORCE", "1"}}) == colored);
  CHECK(color(ColorMode::automatic, false, {{"CLICOLOR_FORCE", "0"}}) == plain);
  CHECK(color(ColorMode::automatic, false, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}) == plain);
}

TEST_CASE("counts are whole numbers from 1 on") {
  CHECK(*parse_count("1") == 1);
  CHECK(*parse_count("9223372036854775807") == std::numeric_limits<Index>::max());
  for (const char* text : {"", "0", "-1", "8x", "1.5", "1e3", " 8", "9223372036854775808"})
    CHECK_FALSE(parse_count(text));
}

TEST_CASE("an assignment has a key and may have an empty value") {
  CHECK(*parse_assignment("a.b=c=d") == "a.b=c=d");
  CHECK(*parse_assignment("a=") == "a=");
  CHECK_FALSE(parse_assignment("a"));
  CHECK_FALSE(parse_assignment("=a"));
}

TEST_CASE("an unknown word names the near one or all there are") {
  const std::vector<std::string> known = {"validate", "plan"};
  CHECK(unknown_word("subcommand", "vaildate", known) ==
        "there is no subcommand \"vaildate\". did you mean validate?");
  CHECK(unknown_word("subcommand", "x", known) ==
        "there is no subcommand \"x\". use validate or plan");
}

TEST_CASE("a folder stands for the configs below it in sorted order") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("cpplan-cli-" + std::to_string(getpid()));
  for (const char* name : {"b.yaml", "a/z.YML", "a/notes.txt", ".hidden/c.yaml", ".d.yaml"}) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << "x: 1\n";
  }
  const auto files = config_files(folder.string());
  const auto none = config_files((folder / ".hidden").string());
  fs::remove(folder / ".hidden/c.yaml");
  const auto empty = config_files((folder / ".hidden").string());
  fs::remove_all(folder);
  REQUIRE(files);
  CHECK(*files == std::vector{(folder / "a/z.YML").string(), (folder / "b.yaml").string()});
  CHECK(none->size() == 1);
  CHECK(empty.error().message.starts_with("no config in "));
  CHECK(config_files("-")->front() == "-");
  CHECK(config_files("missing.yaml")->front() == "missing.yaml");
}

}  // namespace
}  // namespace cpplan::app
