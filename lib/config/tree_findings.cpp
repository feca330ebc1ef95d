#include "config/tree_findings.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "config/document.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {

using diag::Diagnostic;
using diag::finding;
using diag::Span;

Diagnostic second_document(Span span, Boundary boundary) {
  return finding("CP008", std::move(span),
                 boundary == Boundary::marker
                     ? "a second document begins here (a config is one document). delete the `---` "
                       "or move what follows into a file of its own"
                     : "text behind the end of the document (a config is one mapping). remove it, "
                       "or check the quotes and brackets above");
}

Diagnostic recursive_alias(Span span, std::string_view alias) {
  return finding("CP007", std::move(span),
                 fmt::format("alias {} stands inside its own anchor (the value would contain "
                             "itself). write the value out",
                             alias));
}

Diagnostic unsupported_tag(Span span, std::string_view tag) {
  return finding("CP012", std::move(span),
                 fmt::format("tag {} is not supported (a safe loader refuses it, and nothing is "
                             "executed). write the value without a tag",
                             tag));
}

Diagnostic too_deep(Span span) {
  return finding("CP011", std::move(span),
                 fmt::format("collections nest deeper than {} levels here (no config does). "
                             "flatten it",
                             max_nesting));
}

Diagnostic open_quote(Span span) {
  return finding("CP001", std::move(span),
                 "a quote is never closed (all that follows became one text). close it",
                 {.label = "opened here"});
}

Diagnostic key_without_colon(Span span, std::string_view key) {
  if (key.empty())
    return finding(
        "CP001", std::move(span),
        "a colon without a key in front of it (a line of a mapping is a key, a colon and "
        "a space). write key: value");
  return finding("CP001", std::move(span),
                 fmt::format("no colon after \"{}\" (a line of a mapping is a key, a colon and a "
                             "space). write {}: value",
                             key, key.substr(0, key.find_first_of(" \t\n="))));
}

Diagnostic duplicate_key(Span again, std::string_view key, const Span& first,
                         Repetition repetition) {
  const int line = again.line;
  const bool same = repetition == Repetition::same_value;
  Diagnostic found =
      finding("CP003", std::move(again),
              fmt::format("duplicate key \"{}\" (lines {} and {}{}). keep one of them", key,
                          first.line, line, same ? ", with the same value" : ""),
              {.label = same ? "the same again" : "this one would be used",
               .why = "the framework takes the last one without a word",
               .related = {{"the first one", first}}});
  if (same) found.severity = diag::Severity::warning;
  return found;
}

Diagnostic collection_as_key(Span span) {
  return finding("CP014", std::move(span),
                 "a collection as a key (the framework cannot look it up). use a word as the key");
}

Diagnostic merge_of_scalar(Span span) {
  return finding(
      "CP013", std::move(span),
      "`<<` takes a mapping or a list of mappings (their members are merged in). give it "
      "an alias of one, like `<<: *common`");
}

Diagnostic too_many_merged(Span span, Index limit) {
  return finding("CP013", std::move(span),
                 fmt::format("merge keys bring in more than {} members (no config does). write the "
                             "values out",
                             with_thousands(limit)));
}

}  // namespace cpplan::config
