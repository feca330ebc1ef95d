#pragma once
// Over which network this host reaches another one.
#include <optional>
#include <string>

namespace cpplan::cluster {

/// "10.79.0.0/24": the IPv4 network of the address from which this host would speak to `host`. None
/// where the name is unknown here or the network is only the host itself. Sends nothing but the
/// look-up of the name.
std::optional<std::string> network_towards(const std::string& host);

}  // namespace cpplan::cluster
