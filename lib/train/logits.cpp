#include "train/logits.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "base/failure.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "checkpoint/file.hpp"
#include "checkpoint/safetensors.hpp"
#include "engine/groups.hpp"
#include "engine/rotation.hpp"
#include "kernels/cpu/cpu_ops.hpp"
#include "model/hf_config.hpp"
#include "train/restore.hpp"

namespace cpplan::train {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view token_separators = " \t\r\n,";

Result<model::ModelSpec> model_of(const fs::path& folder, Index tokens) {
  const auto read = model::read_model_folder(folder);
  if (!read) return tl::unexpected(read.error());
  if (!read->missing.empty())
    return failure(
        fmt::format("the config.json of {} lacks {} (weights have no shapes without). add it",
                    folder.string(), join_words(read->missing, "and")));
  model::ModelSpec m = model::with_derived_dimensions(read->spec);
  auto why = model::why_not_llama_type(m, tokens);
  if (!why) why = engine::why_no_rotation(m);
  if (why)
    return failure(fmt::format("the engine cannot compute {} ({}). use a model of Llama's type",
                               folder.string(), *why));
  m.attention_dropout = m.hidden_dropout = 0;
  return m;
}

Result<void> check_tokens(std::span<const std::int32_t> tokens, const model::ModelSpec& m) {
  for (const std::int32_t token : tokens)
    if (token < 0 || token >= m.vocab_size)
      return failure(fmt::format(
          "token {} is not of the model (its vocabulary has {}). use numbers from 0 to {}", token,
          m.vocab_size, m.vocab_size - 1));
  return {};
}

engine::Job job_of(const model::ModelSpec& m, Index tokens) {
  engine::Job job;
  job.model = m;
  job.stage_layers = {static_cast<int>(m.num_hidden_layers)};
  job.capacity = round_up(tokens, engine::rows_multiple(job.dims));
  return job;
}

engine::MicroBatch sample_of(std::span<const std::int32_t> tokens) {
  engine::MicroBatch sample{.documents = {{std::ssize(tokens), 0}}};
  sample.tokens.assign(tokens.begin(), tokens.end());
  sample.labels.assign(tokens.begin() + 1, tokens.end());
  sample.labels.push_back(-1);
  return sample;
}

engine::Evaluation evaluate(const fs::path& folder, const engine::Job& job,
                            std::span<const std::int32_t> tokens) {
  kernels::NoTrace trace;
  const auto ops = kernels::make_cpu_ops(trace);
  const layout::Ranks ranks(job.dims, job.order);
  const auto set = comm::make_meta_groups(ranks, 0, trace, engine::group_settings(job));
  const engine::Groups groups = engine::groups_of(set);
  engine::Evaluator evaluator(*ops, groups, job);
  load_weights(folder, *ops, job.model, evaluator.parameters());
  return evaluator.evaluate(sample_of(tokens));
}

/// Of a file that is complete; what stands there already is not replaced. NFS knows the second way
/// alone.
Result<void> take_name(const fs::path& temporary, const fs::path& path) {
  if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0 &&
      (errno == EEXIST || link(temporary.c_str(), path.c_str()) != 0))
    return system_failure("write", path, errno);
  sync_folder(path.parent_path());
  return {};
}

}  // namespace

Result<std::vector<std::int32_t>> read_token_ids(const fs::path& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  std::vector<std::int32_t> tokens;
  for (std::size_t at = text->find_first_not_of(token_separators); at != text->npos;) {
    const std::size_t end = std::min(text->find_first_of(token_separators, at), text->size());
    std::int32_t token = 0;
    const auto [stop, error] = std::from_chars(text->data() + at, text->data() + end, token);
    if (error != std::errc() || stop != text->data() + end)
      return failure(
          fmt::format("{} has \"{}\" among its tokens (they are numbers of the "
                      "vocabulary). write for example 1 15043 3186",
                      path.string(), text->substr(at, end - at)));
    tokens.push_back(token);
    at = text->find_first_not_of(token_separators, end);
  }
  if (tokens.empty())
    return failure(
        fmt::format("{} has no tokens (they are numbers of the vocabulary). write for "
                    "example 1 15043 3186",
                    path.string()));
  return tokens;
}

Result<engine::Evaluation> evaluate_model(const fs::path& folder,
                                          std::span<const std::int32_t> tokens) {
  const auto m = model_of(folder, std::ssize(tokens));
  if (!m) return tl::unexpected(m.error());
  if (const auto right = check_tokens(tokens, *m); !right) return tl::unexpected(right.error());
  if (const auto right = check_weights(folder, *m); !right) return tl::unexpected(right.error());
  try {
    return evaluate(folder, job_of(*m, std::ssize(tokens)), tokens);
  } catch (const Failure& failed) {
    return failure(failed.what());
  }
}

Result<void> write_logits(const fs::path& path, const engine::Evaluation& evaluation,
                          Index tokens) {
  const Index rows = tokens, columns = std::ssize(evaluation.logits) / tokens;
  checkpoint::StoredTensor logits{.name = "logits", .shape = {rows, columns}};
  const std::string header = checkpoint::safetensors_header(std::span(&logits, 1));
  const fs::path temporary = fmt::format("{}.tmp-{}", path.string(), getpid());
  auto file = checkpoint::File::create(temporary, Bytes{std::ssize(header)} + logits.bytes());
  auto written = file ? file->write({0}, std::as_bytes(std::span(header)))
                      : Result<void>(tl::unexpected(file.error()));
  if (written) written = file->write(logits.begin, std::as_bytes(std::span(evaluation.logits)));
  if (written) written = file->sync();
  if (written) written = take_name(temporary, path);
  unlink(temporary.c_str());
  return written;
}

}  // namespace cpplan::train
