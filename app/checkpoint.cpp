#include <fmt/format.h>

#include "app/exit_code.hpp"
#include "app/subcommands.hpp"
#include "app/usage.hpp"
#include "base/text.hpp"
#include "checkpoint/convert.hpp"
#include "checkpoint/folder.hpp"
#include "checkpoint/verify.hpp"
#include "train/logits.hpp"

namespace cpplan::app {
namespace {
using checkpoint::Candidate;
using checkpoint::Manifest;

int stop_with(int exit_code, const std::string& message) {
  fmt::print(stderr, "error: {}\n", message);
  return exit_code;
}

Bytes size_of(const Manifest& manifest) {
  Bytes size{};
  for (const auto& file : manifest.files) size += file.size;
  return size;
}

std::string description(const Candidate& candidate) {
  const Manifest& m = *candidate.manifest;
  return fmt::format(
      "{}\n  step     {}, of run {}\n  layout   TP {} x CP {} x PP {} x DP {} (it goes on under "
      "any "
      "other)\n  data     {} samples taken, {} a step, {} an epoch\n  files    {} of {}, by cpplan "
      "{}\n",
      candidate.path.string(), m.step, m.run, m.dims.tp, m.dims.cp, m.dims.pp, m.dims.dp,
      with_thousands(m.data.samples), m.data.samples_per_step, m.data.samples_per_epoch,
      m.files.size(), human_bytes(size_of(m)), m.version);
}

Json to_json(const Candidate& candidate) {
  Json json = Json::object();
  json["path"] = candidate.path.string();
  json["complete"] = candidate.manifest.has_value();
  if (!candidate.manifest) {
    json["problem"] = candidate.manifest.error().message;
    return json;
  }
  const Manifest& m = *candidate.manifest;
  json["step"] = m.step;
  json["run"] = m.run;
  json["layout"] =
      Json::Object{{"tp", m.dims.tp}, {"cp", m.dims.cp}, {"pp", m.dims.pp}, {"dp", m.dims.dp}};
  json["samples"] = m.data.samples;
  json["samples_per_step"] = m.data.samples_per_step;
  json["files"] = static_cast<Index>(m.files.size());
  json["bytes"] = size_of(m);
  return json;
}

int show(const std::vector<Candidate>& candidates, CheckpointFormat format) {
  Json list = Json::array();
  int code = ok;
  for (const Candidate& candidate : candidates) {
    if (!candidate.manifest) code = findings;
    if (format == CheckpointFormat::json)
      list.push_back(to_json(candidate));
    else if (candidate.manifest)
      fmt::print("{}", description(candidate));
    else
      fmt::print("{}\n", candidate.manifest.error().message);
  }
  Json document = Json::object();
  document["schema"] = "cpplan/checkpoints/1";
  document["checkpoints"] = std::move(list);
  if (format == CheckpointFormat::json) fmt::print("{}\n", document.dump());
  return code;
}

std::vector<std::string> problems_of(const Candidate& candidate) {
  if (!candidate.manifest) return {candidate.manifest.error().message};
  auto damage = checkpoint::damage_in(candidate.path, *candidate.manifest);
  for (std::string& line : damage) line = candidate.path.string() + ": " + line;
  return damage;
}

int verify(const std::vector<Candidate>& candidates) {
  int code = ok;
  for (const Candidate& candidate : candidates) {
    const auto problems = problems_of(candidate);
    for (const std::string& problem : problems) fmt::print("{}\n", problem);
    if (problems.empty())
      fmt::print("{}: {} slices in {} files are as they were written\n", candidate.path.string(),
                 candidate.manifest->slices.size(), candidate.manifest->files.size());
    else
      code = findings;
  }
  return code;
}

int convert(const CheckpointOptions& options) {
  if (options.target.empty())
    return usage_error("checkpoint", "convert wants the new folder: checkpoint convert OLD NEW");
  const auto done = checkpoint::convert_model(options.path, options.target, options.dtype);
  if (!done) return stop_with(environment, done.error().message);
  fmt::print("{} has the weights of {}\n", options.target, options.path);
  return ok;
}

int print_evaluation(const engine::Evaluation& evaluation, const CheckpointOptions& options) {
  if (options.format == CheckpointFormat::json) {
    Json document = Json::object();
    document["schema"] = "cpplan/logits/1";
    document["loss"] = evaluation.loss;
    document["tokens"] = evaluation.tokens;
    fmt::print("{}\n", document.dump());
  } else {
    fmt::print("{} has the logits of {}\nloss {:.6f}, mean of {} next tokens\n", options.target,
               options.path, evaluation.loss, evaluation.tokens);
  }
  return ok;
}

int logits(const CheckpointOptions& options) {
  if (options.target.empty() || !options.tokens)
    return usage_error("checkpoint",
                       "logits wants the new file and the tokens: checkpoint logits MODEL "
                       "NEW.safetensors --tokens FILE");
  const auto tokens = train::read_token_ids(*options.tokens);
  if (!tokens) return stop_with(environment, tokens.error().message);
  const auto evaluation = train::evaluate_model(options.path, *tokens);
  if (!evaluation) return stop_with(environment, evaluation.error().message);
  const auto written = train::write_logits(options.target, *evaluation, std::ssize(*tokens));
  if (!written) return stop_with(environment, written.error().message);
  return print_evaluation(*evaluation, options);
}

}  // namespace

int checkpoint(const CheckpointOptions& options) {
  if (options.action == CheckpointAction::convert) return convert(options);
  if (options.action == CheckpointAction::logits) return logits(options);
  if (!options.target.empty())
    return usage_error("checkpoint",
                       fmt::format("\"{}\" is one argument too many", options.target));
  const auto candidates = checkpoint::candidates_at(options.path);
  if (candidates.empty())
    return stop_with(environment,
                     fmt::format("{} has no checkpoints (they are folders like step-20)."
                                 " name the output_dir of a run",
                                 options.path));
  return options.action == CheckpointAction::show ? show(candidates, options.format)
                                                  : verify(candidates);
}

}  // namespace cpplan::app
