#include "report/plan_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace cpplan::report {
namespace {

struct Named {
  std::string path;
  std::string_view name;
  const Json* value;
};

/// All members of objects, to any depth; elements of lists have no name.
void append_members(const Json& object, const std::string& prefix, std::vector<Named>& members) {
  if (!object.is_object()) return;
  for (const auto& [name, value] : object.members()) {
    members.push_back({prefix + name, name, &value});
    append_members(value, prefix + name + '.', members);
  }
}

tl::unexpected<Error> no_such_value(std::string_view path, const std::vector<Named>& members) {
  std::vector<std::string_view> names;
  for (const Named& member : members) {
    names.push_back(member.name);
    names.push_back(member.path);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto near = did_you_mean(path, names);
  return failure(
      fmt::format("the plan has no value \"{}\" (names are those of --format json). {}", path,
                  near.empty() ? "see `cpplan plan --format json`"
                               : fmt::format("did you mean {}?", join_words(near, "or"))));
}

tl::unexpected<Error> several_values(std::string_view name, const std::vector<Named>& found) {
  std::vector<std::string> paths;
  for (const Named& member : found) paths.push_back(member.path);
  return failure(
      fmt::format("\"{}\" names {} values of the plan (a name alone must be unique). use {}", name,
                  found.size(), join_words(paths, "or")));
}

}  // namespace

Result<Json> find_value(const Json& document, std::string_view path) {
  if (const Json* value = document.at_path(path)) return *value;
  std::vector<Named> members, found;
  append_members(document, "", members);
  std::ranges::copy_if(members, std::back_inserter(found),
                       [&](const Named& member) { return member.name == path; });
  if (found.empty()) return no_such_value(path, members);
  if (found.size() > 1) return several_values(path, found);
  return *found.front().value;
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.as_string() : value.dump(-1);
}

}  // namespace cpplan::report
