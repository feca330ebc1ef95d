// The examples of `cpplan explain` are data: each wrong one breaks its rule, no right one does.
#include <doctest/doctest.h>

#include <set>

#include "base/files.hpp"
#include "diag/pages.hpp"
#include "diag/render_rules.hpp"
#include "unit/rules/checked.hpp"

using namespace cpplan;

namespace {

diag::Diagnostics findings_of(const diag::Example& example) {
  return test::findings_of(diag::complete(example), test::read_given(std::string(example.given)));
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
