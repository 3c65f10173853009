#include "sim/wire/wire.hpp"

#include <array>

namespace margay::sim {

std::string_view name(WireId id) {
  constexpr std::array<std::string_view, kWireCount> kNames = {"self", "shm", "tcp", "virtual"};
  static_assert(!kNames.back().empty());
  // The number may come from a trace file, so it may have any value.
  const auto index = static_cast<std::size_t>(id);
  return index < kNames.size() ? kNames[index] : "unknown";
}

}  // namespace margay::sim
