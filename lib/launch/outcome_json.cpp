#include "launch/outcome_json.hpp"

namespace cpplan::launch {
namespace {

std::string_view name_of(Outcome::End end) {
  switch (end) {
    case Outcome::End::finished:
      return "finished";
    case Outcome::End::failed:
      return "failed";
    case Outcome::End::interrupted:
      return "interrupted";
    case Outcome::End::checkpointed:
      return "checkpointed";
  }
  return "";
}

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::died:
      return "died";
    case Cause::failed:
      return "failed";
    case Cause::stopped:
      return "stopped";
    case Cause::silent:
      return "silent";
    case Cause::stuck:
      return "stuck";
    case Cause::waited:
      return "waited";
    case Cause::launcher:
      return "launcher";
  }
  return "";
}

Json known(bool is_known, Json value) {
  return is_known ? std::move(value) : Json();
}

Json failure_json(const RankFailure& failure) {
  const record::RankStatus& status = failure.status;
  const bool spoke = status.pid != 0;
  const Exit exit = failure.exit.value_or(Exit{});
  return Json::Object{{"cause", name_of(failure.cause)},
                      {"rank", known(failure.rank.has_value(), failure.rank.value_or(0))},
                      {"host", known(spoke, status.host)},
                      {"pid", known(spoke, status.pid)},
                      {"step", known(spoke, status.step)},
                      {"group", known(!status.group.empty(), status.group)},
                      {"operation", known(spoke, status.operation)},
                      {"signal", known(exit.signal != 0, exit.signal)},
                      {"exit_code", known(failure.exit && exit.signal == 0, exit.code)},
                      {"last_words", failure.last_words}};
}

}  // namespace

Json outcome_json(const Outcome& outcome, std::string_view message, int exit_code) {
  const auto& failure = outcome.failure;
  return Json::Object{{"schema", "cpplan/outcome/1"},
                      {"end", name_of(outcome.end)},
                      {"exit", exit_code},
                      {"message", message},
                      {"failure", failure ? failure_json(*failure) : Json()}};
}

}  // namespace cpplan::launch
