// How a long body travels between two ranks of a node; chosen by `--method long=...`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

enum class LongMethod : std::uint8_t {
  automatic,  // whichever the receiver measures to be faster; cma between two ranks that share their one processor
  ring,       // through the byte ring: two copies, both processors at once
  cma,        // process_vm_readv: one copy, by the receiver
};
[[nodiscard]] std::string_view name(LongMethod method);
// "auto", "ring", "cma"; empty is auto. Error: a sentence that names the option and its values.
[[nodiscard]] portals::Status parse_long_method(std::string_view text, LongMethod& out);

struct LongChoice {
  bool reads = false;     // cma
  bool measured = false;  // only where the receiver finds it faster (body_ways.hpp)
  std::string reason;     // a sentence's end; empty before the choice
  [[nodiscard]] bool made() const { return !reason.empty(); }
};
// What a rank does with long bodies for a peer. Tries to read the peer's memory, so it is asked once, when the first
// long body is there. Requires: peer.pid is published.
[[nodiscard]] LongChoice choose_long_method(LongMethod asked, const RankArea& mine, const RankArea& peer);

}  // namespace margay::sim
