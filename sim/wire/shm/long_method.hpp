// The method by which long bodies move between two ranks of a node. `--method long=...` selects it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::sim {

enum class LongMethod : std::uint8_t {
  // The method that is faster by the receiver's measurements. Between threads of one process: as cma, but by memcpy.
  // Between two ranks that may run on one and the same processor only: cma.
  automatic,
  // Through the byte ring: two copies, which both processors make at the same time.
  ring,
  // process_vm_readv: one copy, by the receiver. The sender may copy a part (process_vm_writev) if the body and its
  // landing are one piece each.
  cma,
};
// "auto", "ring" or "cma".
[[nodiscard]] std::string_view name(LongMethod method);
// Parses "auto", "ring" or "cma"; empty is auto. The failure names the option and its values.
[[nodiscard]] portals::Status parse_long_method(std::string_view text, LongMethod& out);

// The method that was chosen for the bodies from one rank to another.
struct LongChoice {
  // Bodies are offered for reading (cma).
  bool reads = false;
  // Only if `reads`: each body is offered only if the receiver's measurements favour reading (body_methods.hpp).
  bool measured = false;
  // The reason of the choice, as the end of a sentence; empty before the choice.
  std::string reason;
  // Whether the choice has been made.
  [[nodiscard]] bool made() const { return !reason.empty(); }
};
// Chooses the method for a rank's long bodies to a peer. Tries to read the peer's memory, which is a system call, so it
// is called once, at the first long body. Requires: peer.pid is published.
[[nodiscard]] LongChoice choose_long_method(LongMethod asked, const RankArea& mine, const RankArea& peer);

}  // namespace margay::sim
