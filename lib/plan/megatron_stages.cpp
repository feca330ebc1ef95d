#include "plan/megatron_stages.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "plan/stages.hpp"

namespace cpplan::plan {
namespace {

constexpr std::size_t longest_layout = 1 << 16;  // characters, repetitions written out

/// The factor of a "*6" at the beginning of `rest`, taken off; 1 where there is none.
std::optional<std::size_t> take_factor(std::string_view& rest) {
  if (!rest.starts_with('*')) return 1;
  std::size_t factor = 0;
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), factor);
  if (error != std::errc() || factor < 1) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return factor;
}

/// The layout with its repetitions written out. Groups do not nest.
std::optional<std::string> written_out(std::string_view rest) {
  std::string all;
  while (!rest.empty()) {
    std::string_view item = rest.substr(0, 1);
    if (item == "(") {
      const auto close = rest.find(')');
      if (close == rest.npos) return std::nullopt;
      item = rest.substr(1, close - 1);
      rest.remove_prefix(close + 1);
    } else {
      rest.remove_prefix(1);
    }
    const auto factor = take_factor(rest);
    if (!factor || *factor > longest_layout) return std::nullopt;
    if (all.size() + item.size() * *factor > longest_layout) return std::nullopt;
    for (std::size_t i = 0; i < *factor; ++i) all += item;
  }
  return all;
}

/// Rank r holds stages r, r + ranks, r + 2 ranks, ...
std::optional<std::vector<int>> by_rank(const std::vector<Index>& stages, Index ranks) {
  if (ranks < 1 || static_cast<Index>(stages.size()) % ranks != 0) return std::nullopt;
  std::vector<int> layers(static_cast<std::size_t>(ranks), 0);
  for (std::size_t i = 0; i < stages.size(); ++i)
    layers[i % static_cast<std::size_t>(ranks)] += static_cast<int>(stages[i]);
  return layers;
}

/// The end stages have one layer less for what they hold besides, where that counts as one.
std::optional<std::vector<int>> with_ends_accounted(const config::MegatronSettings& m, Index layers,
                                                    Index stages, Index chunks) {
  const Index embedding = m.account_for_embedding.value_or(false) ? 1 : 0;
  const Index loss = m.account_for_loss.value_or(false) ? 1 : 0;
  if (layers < 1 || layers > Index{1} << 30) return std::nullopt;
  const auto of_ranks = stage_layers(layers + embedding + loss, stages);
  auto counted = of_ranks ? divided(*of_ranks, chunks) : std::nullopt;
  if (!counted) return std::nullopt;
  counted->front() -= static_cast<int>(embedding);
  counted->back() -= static_cast<int>(loss);
  return counted;
}

std::optional<std::vector<int>> in_order_of_layout(std::string_view text, Index chunks) {
  const auto layout = parse_pipeline_layout(text);
  if (!layout || std::ssize(*layout) != chunks) return std::nullopt;
  return std::vector<int>(layout->begin(), layout->end());
}

}  // namespace

std::optional<std::vector<Index>> parse_pipeline_layout(std::string_view layout) {
  std::string plain;
  for (const char c : layout.substr(0, longest_layout))
    if (std::string_view(" ,\t\n").find(c) == std::string_view::npos) plain.push_back(c);
  const auto all = written_out(plain);
  if (!all || all->find_first_not_of("EtmL|") != std::string::npos) return std::nullopt;
  std::vector<Index> stages(1, 0);
  for (const char c : *all) {
    if (c == '|') stages.push_back(0);
    if (c == 't') ++stages.back();
  }
  return stages;
}

std::optional<std::vector<int>> megatron_stage_layers(const config::TrainingConfig& config,
                                                      Index layers, Index stages) {
  const auto& p = config.parallel;
  const auto& m = config.megatron;
  if (m.pipeline_layout.given()) {
    const auto layout = parse_pipeline_layout(*m.pipeline_layout);
    return layout ? by_rank(*layout, stages) : std::nullopt;
  }
  if (p.first_stage_layers.given() || p.last_stage_layers.given())
    return stage_layers(layers, stages, {p.first_stage_layers.value, p.last_stage_layers.value});
  return with_ends_accounted(m, layers, stages, 1);
}

std::optional<std::vector<int>> divided(const std::vector<int>& stage_layers, Index chunks) {
  std::vector<int> result;
  for (Index chunk = 0; chunk < chunks; ++chunk) {
    for (const int layers : stage_layers) {
      if (layers % chunks != 0 || layers < chunks) return std::nullopt;
      result.push_back(static_cast<int>(layers / chunks));
    }
  }
  return result;
}

std::optional<std::vector<int>> virtual_stage_layers(const config::TrainingConfig& config,
                                                     Index layers, Index stages, Index chunks) {
  const auto& p = config.parallel;
  const auto& m = config.megatron;
  if (m.pipeline_layout.given()) return in_order_of_layout(*m.pipeline_layout, stages * chunks);
  if (p.first_stage_layers.given() || p.last_stage_layers.given()) {
    const auto of_ranks = megatron_stage_layers(config, layers, stages);
    return of_ranks ? divided(*of_ranks, chunks) : std::nullopt;
  }
  return with_ends_accounted(m, layers, stages, chunks);
}

std::optional<Index> virtual_stages(const config::TrainingConfig& config, Index layers,
                                    Index stages) {
  const auto& m = config.megatron;
  if (m.pipeline_layout.given()) {
    const auto layout = parse_pipeline_layout(*m.pipeline_layout);
    const auto chunks = layout ? static_cast<Index>(layout->size()) : 0;
    return chunks > 0 && stages >= 1 && chunks % stages == 0 ? std::optional(chunks / stages)
                                                             : std::nullopt;
  }
  if (is_count(m.virtual_stages)) return m.virtual_stages.value;
  // validate_yaml() overwrites the field, the flags do not have it.
  if (!is_count(m.layers_per_virtual_stage)) return 1;
  const Index ends = (m.account_for_embedding.value_or(false) ? 1 : 0) +
                     (m.account_for_loss.value_or(false) ? 1 : 0);
  if (layers < 1 || stages < 1 || (layers + ends) % stages != 0) return std::nullopt;
  const Index of_rank = (layers + ends) / stages;
  if (of_rank % *m.layers_per_virtual_stage != 0) return std::nullopt;
  return of_rank / *m.layers_per_virtual_stage;
}

}  // namespace cpplan::plan
