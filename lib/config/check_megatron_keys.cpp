#include "config/check_megatron_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "config/check_keys.hpp"
#include "config/check_value.hpp"
#include "config/megatron_arguments.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostics;
using diag::finding;

std::string_view section_name(MegatronPlace place) {
  return place == MegatronPlace::language_model ? "language_model" : "model_parallel";
}

/// The flags --override-opt_param-scheduler and the like have one underscore by history.
bool is_flag_spelling(std::string_view key) {
  std::string rest(key);
  if (const auto at = rest.find("opt_param"); at != rest.npos) rest.erase(at, 9);
  return rest.starts_with("--") && rest.find('_') == rest.npos;
}

class ArgumentChecker {
 public:
  ArgumentChecker(const MegatronArguments& arguments, Diagnostics& findings)
      : arguments_(arguments), findings_(findings) {}

  void check(const MegatronArgument& argument) {
    if (const RefusedFlag* refused = find_refused_flag(argument.name))
      return report_refused(argument, *refused);
    const MegatronKey* key = find_megatron_key(argument.name);
    if (key == nullptr) return report_unknown(argument);
    if (!is_read_at(*key, argument.place, arguments_.form())) report_misplaced(argument, *key);
    if (is_model_args() && !is_flag_spelling(argument.member->key)) report_spelling(argument);
    check_argument_value(kind_of(*key, argument), argument);
  }

 private:
  bool is_model_args() const { return arguments_.form() == MegatronForm::model_args; }

  /// no_rope_fusion of rope_fusion is a switch, whatever the other takes.
  static KeyInfo kind_of(const MegatronKey& key, const MegatronArgument& argument) {
    KeyInfo info = key.info;
    if (info.name != argument.name) info.kind = Kind::boolean;
    return info;
  }

  /// On a command line there is only text: how YAML types a number is of no account.
  void check_argument_value(const KeyInfo& info, const MegatronArgument& argument) {
    Diagnostics found;
    check_value(info, argument.key, *argument.member, found);
    if (is_model_args())
      std::erase_if(found, [](const diag::Diagnostic& d) { return d.id == "CP109"; });
    findings_.insert(findings_.end(), found.begin(), found.end());
  }

  std::string spelled(std::string_view name) const {
    return is_model_args() ? flag_of(name) : std::string(name);
  }

  void report_refused(const MegatronArgument& argument, const RefusedFlag& refused) {
    findings_.push_back(finding("CP114", argument.member->key_span,
                                fmt::format("{} is gone (Megatron stops at it). write {}",
                                            argument.key, spelled(refused.present))));
  }

  void report_misplaced(const MegatronArgument& argument, const MegatronKey& key) {
    const std::string name(argument.name);
    const std::string where = key.place == MegatronPlace::top
                                  ? "at the top level"
                                  : fmt::format("under {}", section_name(key.place));
    findings_.push_back(finding("CP124", argument.member->key_span,
                                fmt::format("{} belongs {} (Megatron looks for it there alone). "
                                            "move {} there",
                                            argument.key, where, name),
                                {.label = "belongs " + where}));
  }

  void report_spelling(const MegatronArgument& argument) {
    findings_.push_back(finding("CP125", argument.member->key_span,
                                fmt::format("{} is no flag (the keys of MODEL_ARGS go to the "
                                            "command line as they are). write {}",
                                            argument.key, flag_of(argument.name)),
                                {.label = flag_of(argument.name)}));
  }

  void report_unknown(const MegatronArgument& argument) {
    if (const auto here = megatron_name_of(argument.name); !here.empty()) {
      findings_.push_back(finding(
          "CP103", argument.member->key_span,
          fmt::format("\"{}\" is spelled as in another framework (Megatron does not read it). "
                      "write {}",
                      argument.key, spelled(here)),
          {.label = fmt::format("Megatron's name is {}", spelled(here))}));
      return;
    }
    const std::string question = did_you_mean_question(argument.name);
    findings_.push_back(
        finding("CP101", argument.member->key_span,
                fmt::format("unknown key \"{}\" ({}). {}", argument.key,
                            is_model_args() ? "Megatron's own flags do not have it"
                                            : "its value is ignored",
                            question.empty() ? "remove it or correct its name" : question),
                {.label = question, .why = why_unknown()}));
  }

  std::string did_you_mean_question(std::string_view name) {
    if (++unknown_ > most_suggestions) return "";
    std::vector<std::string_view> candidates;
    for (const MegatronKey& key : megatron_keys()) candidates.push_back(key.info.name);
    std::vector<std::string> near = cpplan::did_you_mean(name, candidates);
    for (std::string& candidate : near) candidate = fmt::format("\"{}\"", spelled(candidate));
    return near.empty() ? "" : fmt::format("did you mean {}?", join_words(near, "or"));
  }

  std::string why_unknown() const {
    return is_model_args() ? "argparse stops at a flag that the entry point does not add"
                           : "Megatron's YAML reader drops unknown keys without a word";
  }

  const MegatronArguments& arguments_;
  Diagnostics& findings_;
  std::size_t unknown_ = 0;
};

/// ENV_VARS, TEST_TYPE, LAUNCHER and the like are the test runner's.
bool is_of_runner(std::string_view key) {
  return std::none_of(key.begin(), key.end(), [](unsigned char c) { return std::islower(c); });
}

/// What stands beside MODEL_ARGS never becomes a flag.
void check_beside_model_args(const Node& root, Diagnostics& findings) {
  for (const Member& member : root.members) {
    if (is_of_runner(member.key) || member.key == "cpplan" || member.key == "data_parallel_size")
      continue;
    const bool known = find_megatron_key(attribute_name(member.key)) != nullptr;
    findings.push_back(
        known ? finding("CP124", member.key_span,
                        fmt::format("{} belongs under MODEL_ARGS (nothing else becomes a flag). "
                                    "move it there as {}",
                                    member.key, flag_of(attribute_name(member.key))),
                        {.label = "belongs under MODEL_ARGS"})
              : finding("CP101", member.key_span,
                        fmt::format("unknown key \"{}\" (its value is ignored). remove it or move "
                                    "it under MODEL_ARGS",
                                    member.key)));
  }
}

constexpr KeyInfo model_args{"MODEL_ARGS", Kind::mapping, Null::unsets};

}  // namespace

void check_megatron_keys(const Document& document, Diagnostics& findings) {
  const Node& root = *document.root.node;
  const MegatronArguments arguments(root);
  if (const Member* map = root.find("MODEL_ARGS")) {
    check_value(model_args, "MODEL_ARGS", *map, findings);
    check_beside_model_args(root, findings);
  }
  ArgumentChecker checker(arguments, findings);
  for (const MegatronArgument& argument : arguments.all()) checker.check(argument);
  check_own_keys(root, findings);
}

}  // namespace cpplan::config
