#include "config/megatron_arguments.hpp"

namespace cpplan::config {
namespace {

bool has_section(const Node& root, std::string_view key) {
  const Member* member = root.find(key);
  return member != nullptr && member->value.node->is_mapping();
}

bool is_section(const Member& member) {
  return member.key == "language_model" || member.key == "model_parallel";
}

/// Ours, in every dialect.
bool is_own(std::string_view key) {
  return key == "cpplan" || key == "data_parallel_size";
}

}  // namespace

MegatronForm megatron_form(const Node& root) {
  if (root.find("MODEL_ARGS") != nullptr) return MegatronForm::model_args;
  if (has_section(root, "language_model") || has_section(root, "model_parallel"))
    return MegatronForm::nested;
  return MegatronForm::flat;
}

bool is_read_at(const MegatronKey& key, MegatronPlace place, MegatronForm form) {
  return form != MegatronForm::nested || key.place == place || key.place == MegatronPlace::anywhere;
}

MegatronArguments::MegatronArguments(const Node& root) : form_(megatron_form(root)) {
  if (form_ == MegatronForm::model_args) {
    add(*root.find("MODEL_ARGS")->value.node, MegatronPlace::top, "");
    return;
  }
  add(root, MegatronPlace::top, "");
  if (form_ == MegatronForm::flat) return;
  if (const Member* section = root.find("language_model"))
    add(*section->value.node, MegatronPlace::language_model, "language_model.");
  if (const Member* section = root.find("model_parallel"))
    add(*section->value.node, MegatronPlace::model_parallel, "model_parallel.");
}

void MegatronArguments::add(const Node& section, MegatronPlace place, const std::string& prefix) {
  for (const Member& member : section.members) {
    if (place == MegatronPlace::top && form_ != MegatronForm::model_args &&
        (is_own(member.key) || (form_ == MegatronForm::nested && is_section(member))))
      continue;
    std::string name = attribute_name(member.key);
    const auto [known, is_new] = by_name_.try_emplace(name, arguments_.size());
    const MegatronKey* key = find_megatron_key(name);
    const bool better = !is_new && key != nullptr &&
                        (is_read_at(*key, place, form_) ||
                         !is_read_at(*key, arguments_[known->second].place, form_));
    if (better) known->second = arguments_.size();
    arguments_.push_back({std::move(name), prefix + member.key, &member, place});
  }
}

const MegatronArgument* MegatronArguments::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? nullptr : &arguments_[found->second];
}

void MegatronArguments::read_inverted(Setting<bool>& setting, std::string_view name) const {
  read(setting, name);
  if (find(name) != nullptr && setting.given()) setting.value = !*setting.value;
}

void MegatronArguments::read_word(Setting<std::string>& setting, std::string_view name) const {
  if (const MegatronArgument* found = find(name))
    config::read_word(setting, *found->member, found->key);
}

std::string megatron_path(const Node& root, const std::string& key) {
  const MegatronKey* known = find_megatron_key(attribute_name(key));
  if (known == nullptr || root.find(key) != nullptr) return key;
  const MegatronArguments arguments(root);
  const MegatronArgument* present = arguments.find(attribute_name(key));
  if (arguments.form() == MegatronForm::model_args)
    return "MODEL_ARGS." + (present ? present->key : flag_of(attribute_name(key)));
  if (arguments.form() == MegatronForm::flat) return present ? present->key : key;
  if (present != nullptr) return present->key;
  if (known->place == MegatronPlace::language_model) return "language_model." + key;
  return known->place == MegatronPlace::model_parallel ? "model_parallel." + key : key;
}

}  // namespace cpplan::config
