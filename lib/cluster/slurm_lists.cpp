#include "cluster/slurm_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace cpplan::cluster {
namespace {

constexpr Index most_nodes = 1'000'000;  // a longer list is a mistake, not a machine
constexpr std::size_t most_digits = 12;  // of a node's number, zeros included

std::optional<Index> parse_number(std::string_view text) {
  Index n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && n >= 0 ? std::optional(n) : std::nullopt;
}

/// "4", "4(x2)": a count and how often it stands there.
std::optional<std::pair<Index, Index>> parse_repeated(std::string_view item) {
  const auto bracket = item.find("(x");
  const auto count = parse_number(item.substr(0, bracket));
  if (!count || *count < 1) return std::nullopt;
  if (bracket == std::string_view::npos) return std::pair(*count, Index{1});
  if (item.back() != ')') return std::nullopt;
  const auto times = parse_number(item.substr(bracket + 2, item.size() - bracket - 3));
  if (!times || *times < 1 || *times > most_nodes) return std::nullopt;
  return std::pair(*count, *times);
}

/// Up to the next comma outside of brackets; `text` becomes what follows it.
std::string_view take_item(std::string_view& text, bool& last) {
  int depth = 0;
  std::size_t at = 0;
  for (; at < text.size() && (text[at] != ',' || depth > 0); ++at)
    depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
  const std::string_view item = text.substr(0, at);
  last = at == text.size();
  text.remove_prefix(std::min(at + 1, text.size()));
  return item;
}

using Names = std::optional<std::vector<std::string>>;

/// "08-10" -> 08, 09, 10; "7" -> 7: as wide as the first number is written.
Names expand_range(std::string_view range) {
  const auto dash = range.find('-');
  const auto low_text = range.substr(0, dash);
  const auto low = parse_number(low_text);
  const auto high = dash == range.npos ? low : parse_number(range.substr(dash + 1));
  if (!low || !high || *high < *low || *high - *low >= most_nodes) return std::nullopt;
  if (low_text.size() > most_digits) return std::nullopt;
  std::vector<std::string> numbers;
  for (Index n = *low; n <= *high; ++n)
    numbers.push_back(fmt::format("{:0{}}", n, low_text.size()));
  return numbers;
}

/// "1-3,7" -> 1, 2, 3, 7.
Names expand_ranges(std::string_view ranges) {
  std::vector<std::string> numbers;
  for (bool last = false; !last;) {
    const auto range = expand_range(take_item(ranges, last));
    if (!range || std::ssize(numbers) + std::ssize(*range) > most_nodes) return std::nullopt;
    numbers.insert(numbers.end(), range->begin(), range->end());
  }
  return numbers;
}

/// Every head before every tail.
Names combine(const std::vector<std::string>& heads, const std::vector<std::string>& tails) {
  if (std::ssize(heads) * std::ssize(tails) > most_nodes) return std::nullopt;
  std::vector<std::string> names;
  for (const std::string& head : heads)
    for (const std::string& tail : tails) names.push_back(head + tail);
  return names;
}

Names expand_name(std::string_view item) {
  Names names{{""}};
  while (names && !item.empty()) {
    const auto open = std::min(item.find('['), item.size());
    if (item.substr(0, open).find(']') != item.npos) return std::nullopt;
    names = combine(*names, {std::string(item.substr(0, open))});
    item.remove_prefix(open);
    if (item.empty() || !names) break;
    const auto close = item.find(']');
    if (close == item.npos) return std::nullopt;
    const auto numbers = expand_ranges(item.substr(1, close - 1));
    names = numbers ? combine(*names, *numbers) : std::nullopt;
    item.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace

Result<std::vector<Index>> parse_tasks_per_node(std::string_view text) {
  std::vector<Index> tasks;
  std::string_view rest = trimmed(text);
  for (bool last = false; !last;) {
    const auto item = parse_repeated(take_item(rest, last));
    if (!item || std::ssize(tasks) + item->second > most_nodes)
      return failure(fmt::format(
          "cannot read tasks per node \"{}\" (they are written 4(x2),3). write one count a node",
          text));
    tasks.insert(tasks.end(), static_cast<std::size_t>(item->second), item->first);
  }
  return tasks;
}

Result<std::vector<std::string>> parse_node_list(std::string_view text) {
  std::vector<std::string> hosts;
  std::string_view rest = trimmed(text);
  for (bool last = false; !last;) {
    const std::string_view item = take_item(rest, last);
    const auto names = item.empty() ? std::nullopt : expand_name(item);
    if (!names || std::ssize(hosts) + std::ssize(*names) > most_nodes)
      return failure(fmt::format(
          "cannot read node list \"{}\" (it is written cp[1-3,7],gpu01). write one name a node",
          text));
    hosts.insert(hosts.end(), names->begin(), names->end());
  }
  return hosts;
}

Index total_tasks(const std::vector<Index>& tasks_per_node) {
  Index sum = 0;
  for (const Index tasks : tasks_per_node) sum = checked_add(sum, tasks).value_or(sum);
  return sum;
}

}  // namespace cpplan::cluster
