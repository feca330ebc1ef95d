#include "diag/render_rules.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>

#include "base/contract.hpp"
#include "diag/render_concise.hpp"

namespace cpplan::diag {
namespace {

struct Area {
  std::string_view prefix, title;
};

constexpr std::array areas = {Area{"CP0", "Text of the file"},
                              Area{"CP1", "Keys and types"},
                              Area{"CP2", "Model"},
                              Area{"CP3", "Parallelism, batch and steps"},
                              Area{"CP4", "Memory"},
                              Area{"CP5", "Cluster and launch"}};

const Page& page_of(const Rule& rule) {
  const Page* page = find_page(rule.id);
  expect(page != nullptr, "every rule has a page");
  return *page;
}

std::string indented(std::string_view lines, std::string_view margin) {
  std::istringstream each{std::string(lines)};
  std::string text;
  for (std::string line; std::getline(each, line);)
    text += line.empty() ? "\n" : fmt::format("{}{}\n", margin, line);
  return text;
}

/// "Wrong, with --world-size 6".
std::string heading(std::string_view word, const Example& example) {
  return example.given.empty() ? std::string(word)
                               : fmt::format("{}, with {}", word, example.given);
}

std::string example_text(std::string_view word, const Example& example) {
  return fmt::format("{}\n{}", heading(word, example), indented(example.lines, "  "));
}

std::string example_markdown(std::string_view word, const Example& example) {
  const std::string given = example.given.empty() ? "" : fmt::format(", with `{}`", example.given);
  return fmt::format("{}{}:\n\n```yaml\n{}```\n\n", word, given, indented(example.lines, ""));
}

std::string page_markdown(const Rule& rule) {
  const Page& page = page_of(rule);
  std::string text = fmt::format("### {} {}\n\n{}: {}.\n\n{}\n\n", rule.id, rule.name,
                                 severity_name(rule.severity), rule.summary, page.why);
  if (page.has_examples())
    text += example_markdown("Wrong", page.wrong) + example_markdown("Right", page.right);
  return text + fmt::format("Source: {}.\n\n", page.source);
}

Json example_json(const Example& example) {
  return Json::Object{{"lines", example.lines}, {"given", example.given}};
}

Json rule_json(const Rule& rule) {
  const Page& page = page_of(rule);
  Json::Object members = {{"id", rule.id},
                          {"name", rule.name},
                          {"severity", severity_name(rule.severity)},
                          {"summary", rule.summary},
                          {"why", page.why}};
  if (page.has_examples()) {
    members.emplace_back("wrong", example_json(page.wrong));
    members.emplace_back("right", example_json(page.right));
  }
  members.emplace_back("source", page.source);
  return members;
}

/// Rules of each area, under its title.
template <class Print>
std::string by_area(Print print, std::string_view title_format) {
  std::string text;
  for (const Area& area : areas) {
    text += fmt::format(fmt::runtime(title_format), area.title);
    for (const Rule& rule : rules())
      if (rule.id.starts_with(area.prefix)) text += print(rule);
  }
  return text;
}

}  // namespace

std::string render_page(const Rule& rule) {
  const Page& page = page_of(rule);
  std::string text =
      fmt::format("{} {} ({})\n\nWhat it checks\n  {}\n\nWhy\n{}", rule.id, rule.name,
                  severity_name(rule.severity), rule.summary, indented(page.why, "  "));
  if (page.has_examples())
    text += fmt::format("\n{}\n{}", example_text("Wrong", page.wrong),
                        example_text("Right", page.right));
  return text + fmt::format("\nSource\n  {}\n", page.source);
}

std::string render_rules() {
  const auto line = [](const Rule& rule) {
    return fmt::format("  {}  {:<32} {:<8} {}\n", rule.id, rule.name, severity_name(rule.severity),
                       rule.summary);
  };
  return by_area(line, "{}\n");
}

Json rules_json() {
  Json::Array all;
  for (const Rule& rule : rules()) all.push_back(rule_json(rule));
  return Json::Object{{"schema", "cpplan/rules/1"}, {"rules", std::move(all)}};
}

std::string rules_markdown() {
  std::string text =
      "# Rules\n\nEvery finding of `cpplan validate` and `cpplan plan` has a rule. `cpplan explain "
      "CP301`, or its name, shows the page of one; `cpplan rules` lists them. This file is written "
      "by "
      "`scripts/generate-rules`.\n\nA severity is the usual one: where one framework stops and "
      "another "
      "only pads or copies, a rule may be milder, and `--strict` makes warnings errors. Lines of "
      "an "
      "example stand in a config that is sound otherwise.\n\n| rule | name | severity | what must "
      "hold "
      "|\n|---|---|---|---|\n";
  for (const Rule& rule : rules())
    text += fmt::format("| {} | {} | {} | {} |\n", rule.id, rule.name, severity_name(rule.severity),
                        rule.summary);
  text += "\n" + by_area(page_markdown, "## {}\n\n");
  text.pop_back();  // one newline at the end
  return text;
}

}  // namespace cpplan::diag
