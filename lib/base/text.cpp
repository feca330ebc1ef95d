#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace cpplan {
namespace {

constexpr std::string_view white_space = " \t\n\v\f\r";

/// What two spellings of one word have in common.
std::string folded(std::string_view word) {
  std::string out = lower_case(word);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

struct Candidate {
  Index distance;
  std::string_view name;
};

bool is_nearer(const Candidate& a, const Candidate& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.name < b.name;
}

}  // namespace

Index edit_distance(std::string_view a, std::string_view b) {
  std::vector<Index> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<Index>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<Index>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const Index substituted = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::vector<std::string> did_you_mean(std::string_view word,
                                      std::span<const std::string_view> candidates,
                                      std::size_t limit) {
  const std::string wanted = folded(word);
  const Index allowed = 1 + static_cast<Index>(wanted.size()) / 4;
  std::vector<Candidate> near;
  for (const std::string_view name : candidates) {
    const Index shortest = static_cast<Index>(name.size()) - static_cast<Index>(wanted.size());
    if (std::abs(shortest) > allowed) continue;
    const Index distance = edit_distance(wanted, folded(name));
    if (distance <= allowed) near.push_back({distance, name});
  }
  std::sort(near.begin(), near.end(), is_nearer);
  const Index best = near.empty() ? 0 : near.front().distance;
  std::erase_if(near, [&](const Candidate& c) { return c.distance > best + 1; });
  near.resize(std::min(near.size(), limit));
  std::vector<std::string> names;
  for (const Candidate& candidate : near) names.emplace_back(candidate.name);
  return names;
}

std::string with_thousands(Index n) {
  std::string digits = std::to_string(n);
  const Index first = n < 0 ? 1 : 0;
  for (Index at = static_cast<Index>(digits.size()) - 3; at > first; at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string human_bytes(Bytes bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double size = static_cast<double>(bytes.count);
  if (std::abs(size) < 1024) return fmt::format("{} B", bytes.count);
  std::size_t unit = 0;
  // 1023.95 would print as "1024.0" of the smaller unit.
  for (size /= 1024; std::abs(size) >= 1023.95 && unit + 1 < units.size(); ++unit) size /= 1024;
  return fmt::format("{:.1f} {}", size, units[unit]);
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string join_words(std::span<const std::string> parts, std::string_view conjunction) {
  if (parts.size() < 2) return join(parts, "");
  return fmt::format("{} {} {}", join(parts.first(parts.size() - 1), ", "), conjunction,
                     parts.back());
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(white_space);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace cpplan
