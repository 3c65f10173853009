#include "sim/boot/interface.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace margay::sim {

namespace {

struct Interface {
  std::string name;
  std::string address;
  std::uint32_t bits = 0;  // of an IPv4 address, host order
  bool loopback = false;
};

// The IPv4 addresses of interfaces that are up.
std::vector<Interface> interfaces() {
  std::vector<Interface> found;
  ifaddrs* first = nullptr;
  // Without the list, the user can still give a numeric address.
  if (getifaddrs(&first) != 0) return found;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET || (at->ifa_flags & IFF_UP) == 0) continue;
    sockaddr_in address{};
    std::memcpy(&address, at->ifa_addr, sizeof address);
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
    found.push_back({at->ifa_name, text.data(), ntohl(address.sin_addr.s_addr), (at->ifa_flags & IFF_LOOPBACK) != 0});
  }
  freeifaddrs(first);
  return found;
}

// Parses "10.1.0.0/16"; false when it is not a network.
bool parse_network(const std::string& text, std::uint32_t& bits, std::uint32_t& mask) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  in_addr address{};
  char* end = nullptr;
  const unsigned long length = std::strtoul(text.c_str() + slash + 1, &end, 10);
  constexpr unsigned long kAddressBits = 32;
  if (*end != '\0' || end == text.c_str() + slash + 1 || length > kAddressBits) return false;
  if (inet_pton(AF_INET, text.substr(0, slash).c_str(), &address) != 1) return false;
  bits = ntohl(address.s_addr);
  // A shift by 32 bits is undefined.
  mask = length == 0 ? 0 : ~std::uint32_t{0} << (kAddressBits - length);
  return true;
}

bool numeric(const std::string& text) {
  in6_addr any{};
  return inet_pton(AF_INET, text.c_str(), &any) == 1 || inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

// Tests with bind(), because the loopback interface accepts every address of its network, and the list of interfaces
// contains only one of them. An IPv6 address is not tested here; the listener tests it.
bool can_listen_on(const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1) return true;
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return true;
  const bool may = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = errno;
  ::close(descriptor);
  // The caller reports bind()'s error, which close() may overwrite.
  errno = error;
  return may;
}

}  // namespace

portals::Status choose_address(const std::string& wanted, std::string& address) {
  if (numeric(wanted)) {
    address = wanted;
    if (can_listen_on(wanted)) return {};
    return portals::Status::error("-iface " + wanted + ": cannot use this address: " + std::strerror(errno));
  }
  std::uint32_t bits = 0;
  std::uint32_t mask = 0;
  const bool network = parse_network(wanted, bits, mask);
  std::string seen;
  const std::vector<Interface> all = interfaces();
  for (const Interface& one : all) {
    seen += " " + one.name + " (" + one.address + ")";
    const bool fits = wanted.empty() ? !one.loopback : network ? ((one.bits ^ bits) & mask) == 0 : one.name == wanted;
    if (!fits) continue;
    address = one.address;
    return {};
  }
  if (wanted.empty()) {
    // A host without a network can run jobs of its own.
    address = "127.0.0.1";
    return {};
  }
  return portals::Status::error(
      "-iface " + wanted +
      ": invalid interface; use the name, address or network of one that is up:" + (seen.empty() ? " none" : seen));
}

}  // namespace margay::sim
