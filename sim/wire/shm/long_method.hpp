// The method of long bodies between two ranks of a node; chosen by `--method long=...`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

enum class LongMethod : std::uint8_t {
  // Whichever the receiver measures to be faster; cma between two ranks that share their one processor.
  automatic,
  // Through the byte ring: two copies, both processors at once.
  ring,
  // process_vm_readv: one copy, by the receiver.
  cma,
};
// "auto", "ring" or "cma".
[[nodiscard]] std::string_view name(LongMethod method);
// Parses "auto", "ring" or "cma"; empty is auto. The failure names the option and its values.
[[nodiscard]] portals::Status parse_long_method(std::string_view text, LongMethod& out);

// The choice between two particular ranks.
struct LongChoice {
  // Bodies are offered for reading (cma).
  bool reads = false;
  // Only where the receiver finds that faster (body_methods.hpp).
  bool measured = false;
  // The end of a sentence; empty before the choice.
  std::string reason;
  // Whether it has been chosen.
  [[nodiscard]] bool made() const { return !reason.empty(); }
};
// Chooses the method of a rank's long bodies for a peer. Tries to read the peer's memory, so it is called once, at the
// first long body. Requires: peer.pid is published.
[[nodiscard]] LongChoice choose_long_method(LongMethod asked, const RankArea& mine, const RankArea& peer);

}  // namespace margay::sim
