#include "launch/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::launch {
namespace {

Result<Index> parse_slots(std::string_view text, std::string_view host) {
  Index slots = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  if (error == std::errc() && end == text.data() + text.size() && slots >= 1) return slots;
  return failure(fmt::format("\"{}\" is no number of slots of {} (it counts ranks). write {}:4",
                             text, host, host));
}

Result<Host> parse_host(std::string_view item) {
  const auto colon = std::min(item.find(':'), item.size());
  Host host{std::string(item.substr(0, colon)), std::nullopt};
  if (host.name.empty())
    return failure(fmt::format("\"{}\" names no host. write node1:4,node2:4", item));
  if (colon == item.size()) return host;
  const auto slots = parse_slots(item.substr(colon + 1), host.name);
  if (!slots) return tl::unexpected(slots.error());
  host.slots = *slots;
  return host;
}

Result<std::vector<Host>> without_doubles(std::vector<Host> hosts) {
  for (auto host = hosts.begin(); host != hosts.end(); ++host)
    for (auto other = hosts.begin(); other != host; ++other)
      if (other->name == host->name)
        return failure(fmt::format(
            "host {} is named twice (its ranks must follow each other). write {}:8 once",
            host->name, host->name));
  return hosts;
}

/// "node1 slots=4"; keywords other than slots are mpirun's business.
Result<Host> parse_hostfile_line(std::string_view line) {
  Host host;
  for (std::string_view rest = trimmed(line); !rest.empty(); rest = trimmed(rest)) {
    const auto word = rest.substr(0, rest.find_first_of(" \t"));
    rest.remove_prefix(word.size());
    if (host.name.empty()) {
      host.name = word;
    } else if (word.starts_with("slots=")) {
      const auto slots = parse_slots(word.substr(6), host.name);
      if (!slots) return tl::unexpected(slots.error());
      host.slots = *slots;
    }
  }
  return host;
}

/// Ranks of each host: what it has slots for, no more than there are, or an equal share of what
/// those leave.
std::vector<Index> capacities(const std::vector<Host>& hosts, Index world) {
  const auto usable = [&](const Host& host) { return std::min(*host.slots, world); };
  Index given = 0, open = 0;
  for (const Host& host : hosts) host.slots ? given += usable(host) : ++open;
  const Index share = open > 0 ? ceil_div(std::max<Index>(world - given, 0), open) : 0;
  std::vector<Index> result;
  for (const Host& host : hosts) result.push_back(host.slots ? usable(host) : share);
  return result;
}

diag::Diagnostic torn_group(const Placement& placement, const layout::Group& group) {
  const int first = group.rank(0), last = group.rank(group.size() - 1);
  return diag::finding(
      "CP530", {},
      fmt::format("the tensor-parallel group of rank {} is on several hosts ({} to {})", first,
                  placement.host_of(first), placement.host_of(last)),
      {.why = "it exchanges activations several times a layer, at the speed of the network between "
              "hosts instead of that within one",
       .help = {fmt::format("give each host a multiple of {} ranks: --hosts {}:{},...",
                            group.size(), placement.host_of(first), group.size()),
                "or put tp first in --order"}});
}

}  // namespace

Result<std::vector<Host>> parse_hosts(std::string_view text) {
  std::vector<Host> hosts;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    auto host = parse_host(text.substr(from, comma - from));
    if (!host) return tl::unexpected(host.error());
    hosts.push_back(std::move(*host));
    from = comma + 1;
  }
  return without_doubles(std::move(hosts));
}

Result<std::vector<Host>> parse_hostfile(std::string_view text) {
  std::vector<Host> hosts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    auto host = parse_hostfile_line(line.substr(0, line.find('#')));
    if (!host) return tl::unexpected(host.error());
    if (!host->name.empty()) hosts.push_back(std::move(*host));
  }
  if (hosts.empty())
    return failure("the hostfile names no host. write a line like \"node1 slots=4\"");
  return without_doubles(std::move(hosts));
}

Result<Placement> Placement::fill(const std::vector<Host>& hosts, Index world) {
  std::vector<Share> shares;
  Index left = world, room = 0;
  const auto capacity = capacities(hosts, world);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const Index ranks = std::min(left, capacity[i]);
    if (ranks > 0) shares.push_back({hosts[i].name, ranks});
    left -= ranks, room += capacity[i];
  }
  if (left == 0) return Placement(std::move(shares));
  return failure(
      fmt::format("{} on {} {} for {} ranks (a slot takes one rank). give more hosts, or {}:{}",
                  room == 1 ? "1 slot" : fmt::format("{} slots", room), hosts.size(),
                  hosts.size() == 1 ? "host" : "hosts", world, hosts.front().name,
                  ceil_div(world, static_cast<Index>(hosts.size()))));
}

Index Placement::world() const {
  Index ranks = 0;
  for (const Share& share : shares_) ranks += share.ranks;
  return ranks;
}

std::size_t Placement::share_of(Index rank) const {
  std::size_t share = 0;
  while (rank >= shares_[share].ranks) rank -= shares_[share++].ranks;
  return share;
}

Index Placement::local_rank(Index rank) const {
  const std::size_t own = share_of(rank);
  for (std::size_t share = 0; share < own; ++share) rank -= shares_[share].ranks;
  return rank;
}

diag::Diagnostics check_placement(const Placement& placement, const layout::Ranks& ranks) {
  for (const layout::Group& group : ranks.groups(layout::Dim::tp))
    for (const int member : group.members())
      if (placement.share_of(member) != placement.share_of(group.rank(0)))
        return {torn_group(placement, group)};
  return {};
}

}  // namespace cpplan::launch
