// A suggestion is worth what it does: each "key: value" that a rule proposes for a wrong example is
// put in, and the finding must be gone without an error in its place.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>

#include "diag/pages.hpp"
#include "unit/rules/checked.hpp"

using namespace cpplan;

namespace {

/// "use a: 1 or b: 2, and c: 3" -> {{a: 1}, {b: 2, c: 3}}: what "or" parts, "and" joins.
std::vector<std::vector<config::Override>> proposals(const std::string& help) {
  static const std::regex pair(R"(((?:[a-z_]+\.)*-{0,2}[a-z_-]+): ([0-9]+)\b|( or ))");
  std::vector<std::vector<config::Override>> all(1);
  for (std::sregex_iterator it(help.begin(), help.end(), pair), end; it != end; ++it) {
    if ((*it)[3].matched)
      all.emplace_back();
    else
      all.back().push_back({(*it)[1].str(), (*it)[2].str()});
  }
  std::erase_if(all, [](const auto& one) { return one.empty(); });
  return all;
}

/// Rules whose suggestions are numbers for a degree or a size.
bool proposes_numbers(std::string_view id) {
  constexpr std::string_view ids[] = {"CP203", "CP301", "CP304", "CP307", "CP308", "CP309",
                                      "CP310", "CP315", "CP317", "CP318", "CP320", "CP339",
                                      "CP343", "CP351", "CP361", "CP374"};
  return std::ranges::count(ids, id) > 0;
}

}  // namespace

TEST_CASE("help: a proposed number mends the wrong example") {
  int tried = 0;
  for (const auto& page : diag::pages()) {
    if (!proposes_numbers(page.id)) continue;
    const auto given = test::read_given(std::string(page.wrong.given));
    const std::string text = diag::complete(page.wrong), id(page.id);
    for (const auto& finding : test::findings_of(text, given)) {
      if (finding.id != page.id) continue;
      for (const std::string& help : finding.help)
        for (const auto& proposal : proposals(help)) {
          auto with = given;
          with.overrides.insert(with.overrides.end(), proposal.begin(), proposal.end());
          const auto findings = test::findings_of(text, with);
          const std::string found = test::listing(findings);
          CAPTURE(id);
          CAPTURE(help);
          CAPTURE(found);
          CHECK_FALSE(test::has_rule(findings, page.id));
          CHECK(diag::summarize(findings).errors == 0);
          ++tried;
        }
    }
  }
  CHECK(tried > 20);
}
