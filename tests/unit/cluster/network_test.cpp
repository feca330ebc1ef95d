#include <doctest/doctest.h>

#include "cluster/network.hpp"

using namespace cpplan::cluster;

TEST_CASE("network: the one of the address from which we would speak") {
  CHECK(network_towards("127.0.0.1") == "127.0.0.0/8");
  CHECK_FALSE(network_towards("no-such-host.invalid"));
}
