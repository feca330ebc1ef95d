// The examples of `cpplan explain` are data: each wrong one breaks its rule, no right one does.
#include <doctest/doctest.h>

#include <set>

#include "base/files.hpp"
#include "diag/pages.hpp"
#include "diag/render_rules.hpp"
#include "diag/rule_table.hpp"
#include "launch/check_launch.hpp"
#include "train/objections.hpp"
#include "unit/rules/checked.hpp"

using namespace cpplan;

namespace {

constexpr std::string_view run = "cpplan run", launch_flag = "--launch-command";

/// What `cpplan run` alone finds.
diag::Diagnostics objections_to(const plan::Plan& plan) {
  diag::Diagnostics findings;
  for (const auto& objection : train::objections(plan))
    findings.push_back(diag::finding(
        objection.kind == train::Objection::Kind::refused ? "CP512" : "CP513", objection.span,
        objection.message, {.why = objection.why, .help = {objection.help}}));
  return findings;
}

/// `quoted`: the command between its quotes.
diag::Diagnostics findings_of_launch(const plan::Plan& plan, std::string_view quoted) {
  const auto open = quoted.find('"');
  const auto command = launch::parse_launch_command(
      std::string(quoted.substr(open + 1, quoted.rfind('"') - open - 1)));
  diag::Diagnostics findings = command.findings;
  if (!command.line) return findings;
  for (auto& finding : launch::check_launch(*command.line, plan))
    findings.push_back(std::move(finding));
  return findings;
}

diag::Diagnostics findings_of(const diag::Example& example) {
  const auto flag = example.given.find(launch_flag);
  const std::string given(example.given == run ? "" : example.given.substr(0, flag));
  const auto checked = test::check(diag::complete(example), test::read_given(given));
  diag::Diagnostics findings = checked.findings;
  if (!checked.plan) return findings;
  const auto more = example.given == run ? objections_to(*checked.plan)
                    : flag != std::string::npos
                        ? findings_of_launch(*checked.plan, example.given.substr(flag))
                        : diag::Diagnostics{};
  findings.insert(findings.end(), more.begin(), more.end());
  return findings;
}

}  // namespace

TEST_CASE("pages: every rule has one and every page a rule") {
  std::set<std::string_view> ids;
  for (const auto& page : diag::pages()) {
    CAPTURE(page.id);
    CHECK(diag::find_rule(page.id) != nullptr);
    CHECK(ids.insert(page.id).second);
    CHECK_FALSE(page.why.empty());
    CHECK(page.why.ends_with('.'));
    CHECK_FALSE(page.source.empty());
  }
  for (const auto& rule : diag::rules()) {
    CAPTURE(rule.id);
    CHECK(ids.contains(rule.id));
  }
}

TEST_CASE("pages: every wrong example breaks its rule") {
  for (const auto& page : diag::pages()) {
    if (!page.has_examples()) continue;
    const std::string id(page.id);
    const auto findings = findings_of(page.wrong);
    const std::string found = test::listing(findings);
    CAPTURE(id);
    CAPTURE(found);
    CHECK(test::has_rule(findings, page.id));
  }
}

TEST_CASE("pages: no right example breaks its rule or has an error") {
  for (const auto& page : diag::pages()) {
    if (!page.has_examples()) continue;
    const std::string id(page.id);
    const auto findings = findings_of(page.right);
    const std::string found = test::listing(findings);
    CAPTURE(id);
    CAPTURE(found);
    CHECK_FALSE(test::has_rule(findings, page.id));
    CHECK(diag::summarize(findings).errors == 0);
  }
}

TEST_CASE("pages: what the rules print names every rule") {
  const std::string list = diag::render_rules();
  const std::string json = diag::rules_json().dump();
  for (const auto& rule : diag::rules()) {
    CHECK(list.find(std::string(rule.id) + "  " + std::string(rule.name)) != list.npos);
    CHECK(json.find("\"" + std::string(rule.id) + "\"") != json.npos);
    const std::string page = diag::render_page(rule);
    CHECK(page.starts_with(std::string(rule.id) + " " + std::string(rule.name)));
    CHECK(page.find("\nSource\n") != page.npos);
  }
}

TEST_CASE("pages: docs/rules.md is what scripts/generate-rules writes") {
  const auto written = read_file(CPPLAN_SOURCE_DIR "/docs/rules.md");
  REQUIRE(written);
  const bool current = *written == diag::rules_markdown();
  INFO("run scripts/generate-rules");
  CHECK(current);
}
