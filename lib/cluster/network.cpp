#include "cluster/network.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>

namespace cpplan::cluster {
namespace {

/// The socket interface wants a generic address, which has no other spelling.
sockaddr_in as_ipv4(const sockaddr& address) {
  sockaddr_in result{};
  std::memcpy(&result, &address, sizeof result);
  return result;
}

std::optional<sockaddr_in> address_of(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), "9", &hints, &found) != 0 || !found) return std::nullopt;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
  return as_ipv4(*found->ai_addr);
}

/// Ours, on the route to `other`: what a datagram socket is bound to when it is connected.
std::optional<in_addr> own_address_towards(const sockaddr_in& other) {
  const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return std::nullopt;
  sockaddr generic{};
  std::memcpy(&generic, &other, sizeof other);
  socklen_t size = sizeof generic;
  const bool known =
      connect(file, &generic, sizeof generic) == 0 && getsockname(file, &generic, &size) == 0;
  close(file);
  if (!known) return std::nullopt;
  return as_ipv4(generic).sin_addr;
}

std::optional<in_addr> mask_of(in_addr own) {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owned(found, freeifaddrs);
  for (const ifaddrs* entry = found; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr || entry->ifa_addr->sa_family != AF_INET || !entry->ifa_netmask) continue;
    if (as_ipv4(*entry->ifa_addr).sin_addr.s_addr == own.s_addr)
      return as_ipv4(*entry->ifa_netmask).sin_addr;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> network_towards(const std::string& host) {
  const auto other = address_of(host);
  const auto own = other ? own_address_towards(*other) : std::nullopt;
  const auto mask = own ? mask_of(*own) : std::nullopt;
  if (!mask) return std::nullopt;
  const int length = std::popcount(mask->s_addr);
  if (length == 32) return std::nullopt;
  const in_addr network{own->s_addr & mask->s_addr};
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &network, text.data(), text.size());
  return fmt::format("{}/{}", text.data(), length);
}

}  // namespace cpplan::cluster
