#include "report/layout_report.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "diag/render_json.hpp"
#include "report/groups_json.hpp"
#include "report/json_values.hpp"
#include "report/node_crossing.hpp"
#include "report/sequence_json.hpp"
#include "report/table.hpp"
#include "report/text_sections.hpp"

namespace cpplan::report {
namespace {

std::string crossing_section(const plan::Plan& plan) {
  Table table({{"group"},
               {"ranks", Align::right},
               {"groups", Align::right},
               {"across nodes", Align::right},
               {"first"}});
  for (const GroupKind& kind : group_kinds(plan))
    table.add({kind.name, with_thousands(kind.size),
               with_thousands(static_cast<Index>(kind.groups.size())),
               kind.crossing ? with_thousands(*kind.crossing) : "-",
               kind.size <= 16 ? fmt::format("{}", fmt::join(kind.groups.front().members(), " "))
                               : fmt::format("{} ...", kind.groups.front().base)});
  return table.empty() ? "" : table.text();
}

std::string work_section(const plan::Plan& plan) {
  if (!plan.documents || plan.documents->head_tail.pairs.empty()) return "";
  Table table({{"split"}, {"imbalance", Align::right}, {"causal pairs of each rank"}});
  const auto add = [&](const char* name, const plan::DocumentWork& work) {
    const bool listed = work.pairs.size() <= 16;
    table.add({name, fmt::format("{:.3f}", work.imbalance),
               listed ? fmt::format("{}", fmt::join(work.pairs, " ")) : ""});
  };
  add("head-tail", plan.documents->head_tail);
  add("contiguous", plan.documents->contiguous);
  add("striped", plan.documents->striped);
  return table.text();
}

Json crossing_json(const plan::Plan& plan) {
  Json json = Json::array();
  for (const GroupKind& kind : group_kinds(plan))
    json.push_back(Json::Object{{"group", kind.name},
                                {"size", kind.size},
                                {"groups", static_cast<Index>(kind.groups.size())},
                                {"across_nodes", or_null(kind.crossing)}});
  return json;
}

Json degrees_json(const plan::LayoutPlan& layout) {
  const auto& dims = layout.dims;
  return Json::Object{{"tp", dims.tp},
                      {"cp", dims.cp},
                      {"pp", dims.pp},
                      {"dp", dims.dp},
                      {"dp_shard", layout.dp_shard},
                      {"dp_replicate", layout.dp_replicate},
                      {"ep", layout.ep}};
}

/// Lists of the experts' groups, where they are short enough to be read.
void add_ep_groups(const plan::Plan& plan, Json& groups) {
  for (const GroupKind& kind : group_kinds(plan)) {
    if (kind.name != "ep" || plan.layout.dims.world() > 4096) continue;
    Json lists = Json::array();
    for (const auto& group : kind.groups) lists.push_back(group.members());
    groups["ep_groups"] = std::move(lists);
  }
}

}  // namespace

std::string layout_text(const plan::Plan& plan) {
  const std::pair<std::string, std::string> sections[] = {
      {fmt::format("ranks ({}, fastest first)", layout::to_string(plan.layout.order)),
       layout_section(plan)},
      {"groups", crossing_section(plan)},
      {"sequence: chunks of each context-parallel rank", sequence_section(plan)},
      {"documents of a packed sequence", documents_section(plan)},
      {"causal work on these documents", work_section(plan)}};
  std::string text;
  for (const auto& [title, section] : sections)
    if (!section.empty()) text += (text.empty() ? "" : "\n") + title + '\n' + section;
  return text;
}

Json layout_document(const plan::Plan& plan, const diag::Diagnostics& findings) {
  Json groups = groups_json(plan.layout);
  add_ep_groups(plan, groups);
  return Json::Object{{"schema", "cpplan/layout/1"},
                      {"summary", diag::summary_json(diag::summarize(findings))},
                      {"world_size", plan.world.size},
                      {"gpus_per_node", or_null(plan.world.gpus_per_node)},
                      {"rank_order", layout::to_string(plan.layout.order)},
                      {"degrees", degrees_json(plan.layout)},
                      {"groups", std::move(groups)},
                      {"crossing", crossing_json(plan)},
                      {"sequence", sequence_json(plan)},
                      {"diagnostics", diag::diagnostics_json(findings)}};
}

}  // namespace cpplan::report
