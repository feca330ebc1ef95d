#include "diag/render_json.hpp"

#include "diag/render_concise.hpp"

namespace cpplan::diag {
namespace {

Json span_json(const Span& span) {
  if (!span.placed()) return span.file.empty() ? Json() : Json(Json::Object{{"file", span.file}});
  return Json::Object{{"file", span.file},
                      {"line", span.line},
                      {"column", span.column},
                      {"end_line", span.end_line},
                      {"end_column", span.end_column}};
}

Json related_json(const std::vector<Related>& related) {
  Json out = Json::array();
  for (const Related& r : related)
    out.push_back(Json::Object{{"message", r.message}, {"span", span_json(r.span)}});
  return out;
}

Json finding_json(const Diagnostic& d) {
  return Json::Object{{"id", d.id},
                      {"name", d.name},
                      {"severity", severity_name(d.severity)},
                      {"message", d.message},
                      {"label", d.label},
                      {"span", span_json(d.span)},
                      {"related", related_json(d.related)},
                      {"why", d.why},
                      {"help", d.help},
                      {"explain", "cpplan explain " + d.id}};
}

}  // namespace

Json diagnostics_json(const Diagnostics& diagnostics) {
  Json out = Json::array();
  for (const Diagnostic& d : diagnostics) out.push_back(finding_json(d));
  return out;
}

Json summary_json(const Summary& summary) {
  return Json::Object{
      {"errors", summary.errors}, {"warnings", summary.warnings}, {"notes", summary.notes}};
}

Json validate_document(const Diagnostics& diagnostics) {
  return Json::Object{{"schema", "cpplan/validate/1"},
                      {"summary", summary_json(summarize(diagnostics))},
                      {"diagnostics", diagnostics_json(diagnostics)}};
}

}  // namespace cpplan::diag
