#include "libraries/nexus/module/frame.hpp"

#include <cstring>
#include <string>

namespace margay::nexus::core {
namespace {

constexpr std::byte kMagicOne{'N'}, kMagicTwo{'x'};

template <typename Number>
void put(FrameBytes& bytes, std::size_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}
template <typename Number>
void get(std::span<const std::byte> bytes, std::size_t at, Number& number) {
  std::memcpy(&number, bytes.data() + at, sizeof number);
}

}  // namespace

FrameBytes encode(const Frame& frame) {
  FrameBytes bytes{kMagicOne, kMagicTwo, static_cast<std::byte>(frame.kind), static_cast<std::byte>(frame.flags)};
  put(bytes, 4, frame.endpoint);
  put(bytes, 8, frame.generation);
  put(bytes, 10, frame.link);
  put(bytes, 12, frame.handler);
  put(bytes, 16, frame.epoch);
  put(bytes, 20, frame.origin);
  put(bytes, 24, frame.body_bytes);
  return bytes;
}

portals::Status decode(std::span<const std::byte> bytes, std::uint64_t body_bytes, Frame& out) {
  const auto damaged = [](const std::string& why) { return portals::Status::error("damaged header: " + why); };
  if (bytes.size() != kFrameBytes)
    return damaged("it has " + std::to_string(bytes.size()) + " bytes, and not " + std::to_string(kFrameBytes));
  if (bytes[0] != kMagicOne || bytes[1] != kMagicTwo) return damaged("it does not begin with \"Nx\"");
  const auto kind = static_cast<std::uint8_t>(bytes[2]);
  if (kind == 0 || kind > kFrameKindLast) return damaged("unknown kind " + std::to_string(kind));
  out.kind = static_cast<FrameKind>(kind);
  out.flags = static_cast<std::uint8_t>(bytes[3]);
  // A body at its owner is fetched by a portal, which a module does not have.
  if ((out.flags & ~(kIsForwarded | kIsPacked | kToForwarder | kIsMulticast)) != 0)
    return damaged("unknown flags " + std::to_string(out.flags));
  get(bytes, 4, out.endpoint);
  get(bytes, 8, out.generation);
  get(bytes, 10, out.link);
  get(bytes, 12, out.handler);
  get(bytes, 16, out.epoch);
  get(bytes, 20, out.origin);
  get(bytes, 24, out.body_bytes);
  if (out.endpoint >> kEndpointBits != 0) return damaged("endpoint " + std::to_string(out.endpoint));
  if (out.handler >> kHandlerBits != 0) return damaged("handler " + std::to_string(out.handler));
  if (out.body_bytes != body_bytes) {
    return damaged("a body of " + std::to_string(out.body_bytes) + " bytes, but " + std::to_string(body_bytes) +
                   " follow");
  }
  return {};
}

}  // namespace margay::nexus::core
