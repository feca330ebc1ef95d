#include "plan/deepspeed_config.hpp"

#include <filesystem>

#include "base/files.hpp"
#include "base/json.hpp"

namespace cpplan::plan {
namespace {
namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = 1 << 20;

bool offloads(const Json& zero, std::string_view what) {
  const Json* target = zero.find(what);
  const Json* device = target != nullptr && target->is_object() ? target->find("device") : nullptr;
  return device != nullptr && device->is_string() && device->as_string() != "none";
}

std::optional<DeepSpeed> of_json(const Json& json) {
  const Json* zero = json.is_object() ? json.find("zero_optimization") : nullptr;
  if (zero == nullptr || !zero->is_object()) return DeepSpeed{};
  const Json* stage = zero->find("stage");
  if (stage == nullptr || !stage->is_integer()) return std::nullopt;
  return DeepSpeed{stage->as_integer(), offloads(*zero, "offload_optimizer"),
                   offloads(*zero, "offload_param")};
}

std::optional<DeepSpeed> of_name(std::string_view name) {
  const auto at = name.find("zero");
  if (at == std::string_view::npos || at + 4 >= name.size()) return std::nullopt;
  const char digit = name[at + 4];
  if (digit < '0' || digit > '3') return std::nullopt;
  const bool all = name.find("cpuoffload_all") != std::string_view::npos;
  const bool parameters = all || name.find("cpuoffload_params") != std::string_view::npos;
  // zero3_bf16_cpuoffload_params.json keeps the optimizer's states of what it offloads there too.
  return DeepSpeed{digit - '0', parameters, parameters};
}

}  // namespace

std::optional<DeepSpeed> read_deepspeed(const std::string& path) {
  std::error_code unreadable;
  const bool there = fs::is_regular_file(path, unreadable) &&
                     fs::file_size(path, unreadable) <= most_bytes && !unreadable;
  if (!there) return of_name(fs::path(path).filename().string());
  const auto text = read_file(path);
  const auto json = text ? Json::parse(*text) : Result<Json>(failure("unreadable"));
  return json ? of_json(*json) : std::nullopt;
}

}  // namespace cpplan::plan
