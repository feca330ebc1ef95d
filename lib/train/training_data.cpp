#include "train/training_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/philox.hpp"

namespace cpplan::train {
namespace {
namespace fs = std::filesystem;

constexpr Index least_synthetic_rows = 256;

/// Where `path` is: beside the config, else as the working directory has it.
fs::path located(const std::string& path, const std::string& config_file) {
  const fs::path beside = fs::path(config_file).parent_path() / path;
  std::error_code ignored;
  return fs::exists(beside, ignored) ? beside : fs::path(path);
}

Result<data::Rows> read_datasets(const plan::Plan& plan) {
  std::vector<std::string> paths;
  for (const auto& dataset : plan.config.datasets)
    if (dataset.path.given()) paths.push_back(located(*dataset.path, plan.config.file).string());
  if (paths.empty())
    return failure(
        "no text to train on (the config names no datasets). Add one with a path, or use "
        "--synthetic");
  auto rows = data::read_rows(paths, plan.batch.sequence_len);
  if (!rows)
    return failure(fmt::format(
        "no text to train on ({}). Name a text or JSONL file or a folder of them, or use "
        "--synthetic",
        rows.error().message));
  return rows;
}

std::uint64_t seed_of(const plan::Plan& plan) {
  return static_cast<std::uint64_t>(plan.config.optimizer.seed.value_or(42));
}

data::Rows made_up_rows(const plan::Plan& plan) {
  const Index rows = std::max(least_synthetic_rows, plan.batch.batch_size);
  return data::synthetic_rows(seed_of(plan), rows, plan.batch.sequence_len);
}

std::uint64_t hash_of(const data::Rows& rows) {
  std::uint64_t hash = 0;
  for (const auto& row : rows) {
    const std::string_view text(reinterpret_cast<const char*>(row.data()), row.size());
    hash = (hash ^ fnv1a(text)) * 1099511628211ull;
  }
  return hash;
}

Index bytes_of(const data::Rows& rows) {
  Index bytes = 0;
  for (const auto& row : rows) bytes += std::ssize(row);
  return bytes;
}

}  // namespace

Result<TrainingData> load_training_data(const plan::Plan& plan, DataKind kind) {
  auto rows = kind == DataKind::synthetic ? made_up_rows(plan) : read_datasets(plan);
  if (!rows) return tl::unexpected(rows.error());
  const auto entropy = data::entropy(*rows);
  const auto hash = hash_of(*rows);
  const auto bytes = bytes_of(*rows);
  const data::SampleOptions options{.seed = seed_of(plan),
                                    .sequence_len = plan.batch.sequence_len,
                                    .packing = plan.config.batch.sample_packing.value_or(false),
                                    .shuffle = true};
  return TrainingData{data::SampleSource(std::move(*rows), options), entropy, hash, bytes};
}

}  // namespace cpplan::train
