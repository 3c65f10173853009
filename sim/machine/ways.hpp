// The table of ways: the wires between this rank and each peer, in order of preference, each with the reason if it is
// not applicable. One table serves MPI, communication libraries and `margay info`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"
#include "sim/base/message_number.hpp"
#include "sim/boot/job.hpp"
#include "sim/kernel/kernel.hpp"

namespace margay::sim {

// The order of wires that `--way LIST` (MARGAY_WAY) names, such as "shm,tcp". An empty text gives an empty order: shm
// inside a node, tcp between nodes. Fails for an unknown wire, and for a wire that is named twice.
[[nodiscard]] portals::Status parse_ways(std::string_view list, std::vector<WireId>& out);

// Forwarding (`--forward node`, MARGAY_FORWARD): a node's first rank forwards the messages between the node's other
// ranks and other nodes. check_forwarding() fails if it is combined with an order of wires.
[[nodiscard]] portals::Status check_forwarding(const Options& options);
[[nodiscard]] bool is_forwarding(const Job& job);
// By rank: the first rank of its node.
[[nodiscard]] std::vector<std::uint32_t> first_ranks(const Job& job);

// The reason why `wire` cannot carry messages from this rank to `peer` in this job; empty: it can. The order is that of
// parse_ways(). Requires: peer < job.size.
[[nodiscard]] std::string why_not(const Job& job, const std::vector<WireId>& order, WireId wire, std::uint32_t peer);
// The wires that can carry messages to `peer`, in order of preference; the first one is the usual way.
[[nodiscard]] std::vector<WireId> applicable_wires(const Job& job, const std::vector<WireId>& order,
                                                   std::uint32_t peer);
// Fails, with the cure, if none of the wires reaches a peer.
[[nodiscard]] portals::Status check_ways(const Job& job, const std::vector<WireId>& order);

// A row of the table: one wire towards one peer.
struct WayRow {
  WireId wire = WireId::self;
  // Valid if `why_not` is empty.
  WayCode way = kUsualWay;
  std::string why_not;
  [[nodiscard]] bool is_open() const { return why_not.empty(); }
};
// The rows for `peer`, the usual way first, then those of open further ways, then the others.
[[nodiscard]] std::vector<WayRow> way_table(const Job& job, const Kernel& kernel, std::uint32_t peer);

}  // namespace margay::sim
