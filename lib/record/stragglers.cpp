#include "record/stragglers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cpplan::record {
namespace {

/// By which share of the middle rank's time a rank must be slower to be worth a word, and what that
/// must make of all the time.
constexpr double notable_excess = 0.25, notable_share = 0.05;
constexpr std::size_t most_groups = 3;
constexpr std::size_t most_members = 8;

/// Of two ranks the slower one is held against the other.
double median_busy(std::vector<RankWaits> ranks) {
  const auto middle = ranks.begin() + (ranks.size() == 2 ? 0 : std::ssize(ranks) / 2);
  std::ranges::nth_element(ranks, middle, {}, &RankWaits::busy);
  return middle->busy;
}

bool is_notable(const RankWaits& slowest, double middle) {
  const double excess = slowest.busy - middle;
  return excess > notable_excess * middle &&
         excess > notable_share * (slowest.busy + slowest.waited);
}

std::string members_text(const std::vector<int>& ranks) {
  if (ranks.size() <= most_members) return fmt::format("{{{}}}", fmt::join(ranks, ", "));
  return fmt::format("{{{}, ..., {}}}", ranks.front(), ranks.back());
}

std::string sentence_on(const GroupWaits& group) {
  const auto most = std::ranges::max_element(group.seconds) - group.seconds.begin();
  return fmt::format("in {} {} rank {} waits {:.3g} s for it", group.group,
                     members_text(group.ranks), group.ranks[static_cast<std::size_t>(most)],
                     group.seconds[static_cast<std::size_t>(most)]);
}

}  // namespace

int straggler_of(const GroupWaits& group) {
  const auto least = std::ranges::min_element(group.seconds) - group.seconds.begin();
  return group.ranks[static_cast<std::size_t>(least)];
}

double held_up(const GroupWaits& group) {
  const auto [least, most] = std::ranges::minmax(group.seconds);
  return most - least;
}

std::vector<std::string> straggler_sentences(const RunRecord& record) {
  const auto& ranks = record.waits.ranks;
  if (ranks.size() < 2) return {};
  const RankWaits& slowest = *std::ranges::max_element(ranks, {}, &RankWaits::busy);
  const double middle = median_busy(ranks);
  if (!is_notable(slowest, middle)) return {};
  std::vector<std::string> sentences = {
      fmt::format("rank {} holds the others up: it computes {:.3g} s of its steps, the rank in the "
                  "middle {:.3g} s",
                  slowest.rank, slowest.busy, middle)};
  std::vector<GroupWaits> groups;
  for (const GroupWaits& group : record.waits.groups)
    if (straggler_of(group) == slowest.rank) groups.push_back(group);
  std::ranges::sort(groups, std::greater{}, held_up);
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i)
    sentences.push_back(sentence_on(groups[i]));
  return sentences;
}

}  // namespace cpplan::record
