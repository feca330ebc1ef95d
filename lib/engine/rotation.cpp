#include "engine/rotation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/contract.hpp"
#include "kernels/rope.hpp"

namespace cpplan::engine {
namespace {
using model::ModelSpec;
using model::RopeScaling;

/// Positions that the model was pretrained on.
double original_positions(const ModelSpec& m) {
  const Index given = m.rope_scaling.original_max_position_embeddings;
  return static_cast<double>(given > 0 ? given : m.max_position_embeddings);
}

/// A pair whose wave fits `high_freq_factor` times into the original context stays as it is, one
/// that fits less than `low_freq_factor` times slows by the whole factor, and between them it is a
/// straight line.
void slow_as_llama3(const ModelSpec& m, std::vector<double>& frequencies) {
  const RopeScaling& s = m.rope_scaling;
  for (double& f : frequencies) {
    const double waves = original_positions(m) * f / (2 * std::numbers::pi);
    const double kept = std::clamp(
        (waves - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor), 0.0, 1.0);
    f *= kept + (1 - kept) / s.factor;
  }
}

/// The pair, a fraction of one included, that turns that often in the original context.
double pair_that_turns(const ModelSpec& m, double turns) {
  const double wavelength = original_positions(m) / (turns * 2 * std::numbers::pi);
  return static_cast<double>(m.head_dim) * std::log(wavelength) / (2 * std::log(m.rope_theta));
}

/// Pairs below the one that turns beta_fast times stay, pairs above the one that turns beta_slow
/// times slow by the whole factor.
void slow_as_yarn(const ModelSpec& m, std::vector<double>& frequencies) {
  const RopeScaling& s = m.rope_scaling;
  double first = pair_that_turns(m, s.beta_fast), last = pair_that_turns(m, s.beta_slow);
  if (s.truncate) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(m.head_dim - 1));
  if (first == last) last += 0.001;  // transformers' guard
  for (std::size_t j = 0; j < frequencies.size(); ++j) {
    const double slowed = std::clamp((static_cast<double>(j) - first) / (last - first), 0.0, 1.0);
    frequencies[j] *= 1 - slowed + slowed / s.factor;
  }
}

double grown(double factor, double weight) {
  return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
}

double yarn_magnitude(const RopeScaling& s) {
  if (s.attention_factor > 0) return s.attention_factor;
  if (s.mscale > 0 && s.mscale_all_dim > 0)
    return grown(s.factor, s.mscale) / grown(s.factor, s.mscale_all_dim);
  return grown(s.factor, 1);
}

std::optional<std::string> why_not_llama3(const ModelSpec& m) {
  const RopeScaling& s = m.rope_scaling;
  if (s.low_freq_factor > 0 && s.high_freq_factor > s.low_freq_factor) return {};
  return fmt::format(
      "its low_freq_factor is {} and its high_freq_factor {} (between them frequencies slow). use "
      "for example 1 and 4",
      s.low_freq_factor, s.high_freq_factor);
}

std::optional<std::string> why_not_yarn(const ModelSpec& m) {
  const RopeScaling& s = m.rope_scaling;
  if (m.rope_theta > 1 && s.beta_slow > 0 && s.beta_fast > s.beta_slow) return {};
  return fmt::format(
      "its rope_theta is {}, its beta_fast {} and its beta_slow {} (frequencies fall, and slow "
      "between the two). use for example 10000, 32 and 1",
      m.rope_theta, s.beta_fast, s.beta_slow);
}

}  // namespace

Rotation rotation_of(const ModelSpec& m) {
  const RopeScaling& s = m.rope_scaling;
  Rotation rotation{.frequencies = kernels::rope_frequencies(m.head_dim, m.rope_theta)};
  expect(!why_no_rotation(m), "what cannot be computed is refused before");
  if (s.type == "linear")
    for (double& f : rotation.frequencies) f /= s.factor;
  if (s.type == "llama3") slow_as_llama3(m, rotation.frequencies);
  if (s.type == "yarn") {
    slow_as_yarn(m, rotation.frequencies);
    rotation.magnitude = yarn_magnitude(s);
  }
  return rotation;
}

std::optional<std::string> why_no_rotation(const ModelSpec& m) {
  const RopeScaling& s = m.rope_scaling;
  if (s.type == "default") return {};
  if (s.type != "linear" && s.type != "llama3" && s.type != "yarn")
    return fmt::format(
        "its rotary positions are of type \"{}\" (the engine computes those of types default, "
        "linear, llama3 and yarn). use a model of one of these",
        s.type);
  if (!(s.factor > 0 && std::isfinite(s.factor)))
    return fmt::format(
        "the factor of its rope_scaling is {} (frequencies are divided by it). use for example 8",
        s.factor);
  if (s.type == "linear") return {};
  if (original_positions(m) < 1)
    return std::string(
        "its rope_scaling has no original_max_position_embeddings (what slows depends on it). use "
        "for example 8192");
  return s.type == "llama3" ? why_not_llama3(m) : why_not_yarn(m);
}

}  // namespace cpplan::engine
