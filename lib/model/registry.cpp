#include "model/registry.hpp"

#include <algorithm>

#include "base/contract.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "model/hf_config.hpp"
#include "model/model_files.hpp"

namespace cpplan::model {
namespace {

struct Entry {
  ModelSpec spec;
  std::vector<std::string> identities;  // of its name, its source and of copies
};

/// What identifies a model in a hub id: its last part, without the marks of a tuned copy of the
/// same dimensions. Empty for a folder.
std::string identity(std::string_view name) {
  if (name.starts_with('.') || name.starts_with('/') || name.starts_with('~')) return {};
  const auto slash = name.rfind('/');
  std::string last = lower_case(slash == std::string_view::npos ? name : name.substr(slash + 1));
  for (const std::string_view suffix : {"-instruct", "-hf", "-chat", "-it", "-pt", "-base"})
    if (last.ends_with(suffix)) last.resize(last.size() - suffix.size());
  return last;
}

std::string text_of(const Json& json, std::string_view key) {
  const Json* member = json.find(key);
  expect(member != nullptr && member->is_string(), "an entry of configs/models has its texts");
  return member->as_string();
}

Entry entry_of(const Json& json) {
  const Json* config = json.find("config");
  expect(config != nullptr, "an entry of configs/models has a config");
  const auto model = model_of_hf_config(*config, text_of(json, "name"));
  expect(model && model->missing.empty(), "an entry of configs/models is whole");
  Entry entry{with_derived_dimensions(model->spec), {}};
  entry.identities = {identity(entry.spec.name), identity(text_of(json, "source"))};
  if (const Json* also = json.find("also"))
    for (const Json& name : also->elements())
      entry.identities.push_back(identity(name.as_string()));
  return entry;
}

std::vector<Entry> read_entries() {
  std::vector<Entry> entries;
  for (const ModelFile& file : model_files()) {
    const auto json = Json::parse(file.json);
    expect(json && json->is_array(), "a file of configs/models is an array");
    for (const Json& entry : json->elements()) entries.push_back(entry_of(entry));
  }
  return entries;
}

/// Read at the first question: most configs of a test never ask.
const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = read_entries();
  return all;
}

}  // namespace

std::optional<ModelSpec> find_model(std::string_view name) {
  const std::string wanted = identity(name);
  if (wanted.empty()) return std::nullopt;
  const auto found = std::ranges::find_if(entries(), [&](const Entry& entry) {
    return std::ranges::count(entry.identities, wanted) > 0;
  });
  return found == entries().end() ? std::nullopt : std::optional(found->spec);
}

std::vector<std::string> models_like(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries()) names.push_back(entry.spec.name);
  return did_you_mean(identity(name), names);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) names.push_back(entry.spec.name);
  return names;
}

}  // namespace cpplan::model
