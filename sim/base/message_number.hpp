// The number of a message: its way, and its position, from 1, among the messages of one ordered pair by that way. With
// the two ranks it is the message's identity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/base/wire_kind.hpp"

namespace margay::sim {

// A way: a wire between two ranks. 0 is the pair's usual way, which MPI uses; 1 + WireId is another wire that reaches
// the peer, too. A wire keeps order, so numbers of one way are consecutive; messages of different ways may overtake
// each other.
using WayCode = std::uint8_t;
inline constexpr WayCode kUsualWay = 0;
inline constexpr std::size_t kWayCodes = 1 + kWireCount;
[[nodiscard]] constexpr WayCode way_by(WireId wire) {
  return static_cast<WayCode>(1 + static_cast<unsigned>(wire));
}
// The name of the wire; empty for the usual way.
[[nodiscard]] constexpr std::string_view name_of_way(WayCode way) {
  return way == kUsualWay ? std::string_view() : name(static_cast<WireId>(way - 1));
}

// A message's number has the way above the position. A message of the usual way therefore has its position as its
// number.
inline constexpr unsigned kWayShift = 48;
[[nodiscard]] constexpr std::uint64_t message_number(WayCode way, std::uint64_t position) {
  return (std::uint64_t{way} << kWayShift) | position;
}
[[nodiscard]] constexpr WayCode way_of(std::uint64_t number) {
  return static_cast<WayCode>(number >> kWayShift);
}
[[nodiscard]] constexpr std::uint64_t position_of(std::uint64_t number) {
  return number & ((std::uint64_t{1} << kWayShift) - 1);
}
// "17", or with another than the usual way "tcp.17".
[[nodiscard]] inline std::string number_text(std::uint64_t number) {
  const std::string position = std::to_string(position_of(number));
  return way_of(number) == kUsualWay ? position : std::string(name_of_way(way_of(number))) + "." + position;
}

}  // namespace margay::sim
