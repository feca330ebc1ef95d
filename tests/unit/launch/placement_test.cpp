#include <doctest/doctest.h>

#include "launch/placement.hpp"
#include "launch/rank_map.hpp"

using namespace cpplan;
using namespace cpplan::launch;

namespace {

Placement fill(std::string_view hosts, Index world) {
  return *Placement::fill(*parse_hosts(hosts), world);
}

std::vector<std::string> hosts_of(const Placement& placement) {
  std::vector<std::string> hosts;
  for (Index rank = 0; rank < placement.world(); ++rank) hosts.push_back(placement.host_of(rank));
  return hosts;
}

bool mentions(const Error& error, std::string_view text) {
  return error.message.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("hosts: names with and without slots") {
  const auto hosts = parse_hosts("a:4,b,c-1.site:2");
  REQUIRE(hosts);
  REQUIRE(hosts->size() == 3);
  CHECK((*hosts)[0].slots == 4);
  CHECK_FALSE((*hosts)[1].slots);
  CHECK((*hosts)[2].name == "c-1.site");
}

TEST_CASE("hosts: what is none is an error that says what to write") {
  CHECK(mentions(parse_hosts("a:0").error(), "write a:4"));
  CHECK(mentions(parse_hosts("a:x").error(), "\"x\""));
  CHECK(mentions(parse_hosts("a,,b").error(), "names no host"));
  CHECK(mentions(parse_hosts("").error(), "names no host"));
  CHECK(mentions(parse_hosts("a:2,b:2,a:2").error(), "twice"));
}

TEST_CASE("hostfile: comments, blank lines, and keywords of Open MPI") {
  const auto hosts =
      parse_hostfile("# ours\n\na slots=4 max_slots=8  # the first\n  b\tslots=2\nc");
  REQUIRE(hosts);
  REQUIRE(hosts->size() == 3);
  CHECK((*hosts)[0].slots == 4);
  CHECK((*hosts)[1].slots == 2);
  CHECK_FALSE((*hosts)[2].slots);
  CHECK(mentions(parse_hostfile("# none\n").error(), "slots=4"));
  CHECK(mentions(parse_hostfile("a slots=many").error(), "many"));
}

TEST_CASE("placement: more slots than a sum of them could count") {
  const Placement placement = fill("a:9223372036854775807,b:9223372036854775807,c", 3);
  CHECK(hosts_of(placement) == std::vector<std::string>{"a", "a", "a"});
}

TEST_CASE("placement: consecutive ranks share a host") {
  const Placement placement = fill("a:3,b:2", 5);
  CHECK(hosts_of(placement) == std::vector<std::string>{"a", "a", "a", "b", "b"});
  CHECK(placement.local_rank(0) == 0);
  CHECK(placement.local_rank(2) == 2);
  CHECK(placement.local_rank(3) == 0);
  CHECK(placement.local_rank(4) == 1);
}

TEST_CASE("placement: hosts without slots share what the others leave") {
  CHECK(hosts_of(fill("a,b:1,c", 5)) == std::vector<std::string>{"a", "a", "b", "c", "c"});
  CHECK(fill("a", 7).shares().front().ranks == 7);
}

TEST_CASE("placement: hosts that no rank needs are left out") {
  CHECK(fill("a:4,b:4", 3).shares().size() == 1);
}

TEST_CASE("placement: too few slots are an error with both numbers") {
  const auto placement = Placement::fill(*parse_hosts("a:2,b:1"), 8);
  REQUIRE_FALSE(placement);
  CHECK(mentions(placement.error(), "3 slots on 2 hosts for 8 ranks"));
  CHECK(mentions(placement.error(), "a:4"));
}

TEST_CASE("placement: a tensor-parallel group on two hosts is a finding") {
  const layout::Ranks ranks({.tp = 2, .cp = 3, .pp = 1, .dp = 1});
  CHECK(check_placement(fill("a:2,b:4", 6), ranks).empty());
  const auto findings = check_placement(fill("a:3,b:3", 6), ranks);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].id == "CP530");
  CHECK(findings[0].message.find("group of rank 2 is on several hosts (a to b)") !=
        std::string::npos);
  const auto other_order = layout::parse_order("cp-tp");
  CHECK_FALSE(
      check_placement(fill("a:3,b:3", 6), layout::Ranks({.tp = 2, .cp = 3}, *other_order)).empty());
}

TEST_CASE("rank map: place and coordinates of every rank") {
  const layout::Ranks ranks({.tp = 2, .cp = 2, .pp = 2, .dp = 1});
  const auto map = map_ranks(ranks, fill("node1:4,node2:4", 8), Devices::one_a_rank, {"node2", 2});
  REQUIRE(map.size() == 8);
  const std::string text = to_text(map);
  CHECK(text.find("rank 5  host node2  local 1  device 1  numa 0  tp 1  cp 0  pp 1  dp 0\n") !=
        std::string::npos);
  const Json json = to_json(map);
  CHECK(json.at_path("6.host")->as_string() == "node2");
  CHECK(json.at_path("6.local_rank")->as_integer() == 2);
  CHECK(json.at_path("6.device")->as_integer() == 2);
  CHECK(json.at_path("6.numa_node")->as_integer() == 1);
  CHECK(json.at_path("0.numa_node")->is_null());
  CHECK(json.at_path("6.cp")->as_integer() == 1);
  CHECK(json.at_path("6.pp")->as_integer() == 1);
  CHECK(to_json(map_ranks(ranks, fill("a", 8), Devices::none, {})).at_path("0.device")->is_null());
}
