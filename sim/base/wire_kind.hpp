// The registry of wires: one row for each kind of wire. Counters, options, traces and the table of ways
// (sim/machine/ways) are indexed by these rows. docs/ways.md lists the places that a new wire touches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/limits.hpp"

namespace margay::sim {

// The wires, in order of preference: the kernel polls wires with lower numbers first. Values appear in traces.
enum class WireId : std::uint8_t { self = 0, shm = 1, tcp = 2, virtual_ = 3, forward = 4, guest = 5 };

// The ranks that a wire can reach. other_job: guests, which are processes of other jobs (sim/base/endpoint.hpp).
enum class Reach : std::uint8_t { own_process, own_node, any_node, other_job };

struct WireKind {
  // Shown in reports and traces, and given in options.
  std::string_view name;
  Reach reach = Reach::any_node;
  // A poll costs a system call. Such a wire is polled in some rounds only if the process has a faster one.
  bool slow_poll = false;
  // Whether `--way` may name it.
  bool selectable = false;
  // The default of the longest short message, in bytes.
  std::uint64_t short_limit = 0;
};

// By WireId.
inline constexpr std::array kWireKinds = {
    WireKind{"self", Reach::own_process, false, false, kShortLimitBytesShm},
    WireKind{"shm", Reach::own_node, false, true, kShortLimitBytesShm},
    WireKind{"tcp", Reach::any_node, true, true, kShortLimitBytesTcp},
    WireKind{"virtual", Reach::any_node, false, false, kShortLimitBytesShm},
    WireKind{"forward", Reach::any_node, false, false, kShortLimitBytesTcp},
    WireKind{"guest", Reach::other_job, true, false, kShortLimitBytesTcp},
};
inline constexpr std::size_t kWireCount = kWireKinds.size();

[[nodiscard]] constexpr const WireKind& kind_of(WireId id) {
  return kWireKinds[static_cast<std::size_t>(id)];
}
// The kind's name; "unknown" for another number, which a trace file may hold.
[[nodiscard]] constexpr std::string_view name(WireId id) {
  return static_cast<std::size_t>(id) < kWireCount ? kind_of(id).name : std::string_view("unknown");
}

}  // namespace margay::sim
