// The frame of a forwarded message: the fields by which each process on a message's path recognizes one piece of it,
// and the path itself. docs/ways.md, "Forwarding", describes the protocol.
//
// A piece is the body of an ordinary put, a hop, to kForwardPortal of the next process on the path. Its frame takes the
// put's match bits (origin and final), offset (number) and first byte of user data (kind); its length is the put's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "portals/base/header.hpp"
#include "sim/base/limits.hpp"
#include "sim/wire/frame.hpp"

namespace margay::sim {

// The portal of hops in a process that forwards, or whose messages are forwarded. No program may attach memory to it
// (mpi_adi/device/portal_numbers.hpp).
inline constexpr portals::PortalIndex kForwardPortal = 62;

// The longest piece, which each wire of a hop hands over whole.
inline constexpr std::size_t kForwardPieceBytes = kShortLimitBytesShm;
static_assert(kForwardPieceBytes <= kShortLimitBytesTcp && kForwardPieceBytes > kFrameHeadMaxBytes);
// The most pieces of a flow, an ordered pair of ranks, that its receiver has not taken. It bounds the memory that a
// flow takes in the processes on its path to 256 KiB. The receiver returns credits when half of a window is taken.
inline constexpr std::uint32_t kForwardWindow = 16;
inline constexpr std::uint32_t kForwardCreditStep = kForwardWindow / 2;

// The kinds of frames. The values are part of the protocol.
enum class ForwardKind : std::uint8_t {
  // A header (sim/wire/frame) and the whole body behind it.
  whole = 1,
  // A header whose body follows in segments.
  begin = 2,
  // A part of the body.
  segment = 3,
  // The sender has abandoned the remainder of the body.
  cut = 4,
  // The receiver of the opposite flow has taken `number` pieces.
  credit = 5,
  // The origin waits for the final process, which may be computing.
  nudge = 6,
  // From neighbour to neighbour. bye: the sender neither sends nor needs further credits and nudges. open: revokes a
  // bye. lost, left: the process `origin` is unreachable; see Arrival::Kind.
  bye = 7,
  open = 8,
  lost = 9,
  left = 10,
};

struct ForwardFrame {
  ForwardKind kind = ForwardKind::whole;
  // The ranks at the ends of the piece's path.
  std::uint32_t origin = 0;
  std::uint32_t final = 0;
  // Pieces of messages: the position of the piece in its flow, from 1. credit: the number of pieces.
  std::uint64_t number = 0;

  // Whether the frame is a piece of a message, which takes a credit.
  [[nodiscard]] bool is_piece() const { return kind <= ForwardKind::cut; }
  // Whether the frame goes from one neighbour to another, and no further.
  [[nodiscard]] bool is_notice() const { return kind >= ForwardKind::bye; }
};

// The header of the put that carries `frame` and `bytes` bytes to `next`.
[[nodiscard]] portals::Header forward_header(const ForwardFrame& frame, std::uint32_t next, std::uint64_t bytes);
// Reads the frame of an arrived put. Returns the mistake; empty: there is none. Whatever the header holds, the frame's
// ranks are below `ranks` and its length fits its kind if the result is empty.
[[nodiscard]] std::string read_forward_frame(const portals::Header& header, std::uint32_t ranks, ForwardFrame& out);

// Whether an arrived put is a nudge. A nudge is a hint and does not count as progress, because ranks in a deadlock also
// send nudges.
[[nodiscard]] inline bool is_forward_nudge(const portals::Header& header) {
  return header.user_data[0] == static_cast<std::byte>(ForwardKind::nudge);
}

// The paths of a job's forwarded messages: origin, the forwarder of its node, the forwarder of the final process's
// node, final process. A process that is its node's forwarder is on a path once. So each process on a path has one
// process before it and one behind it, which is how a forwarder authenticates its neighbours.
class ForwardPaths {
 public:
  // `forwarder_of[r]`: the forwarder of rank r's node, which is its own forwarder. Requires: me < forwarder_of.size().
  ForwardPaths(std::uint32_t me, std::vector<std::uint32_t> forwarder_of);

  [[nodiscard]] std::uint32_t me() const { return me_; }
  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(forwarder_of_.size()); }
  [[nodiscard]] std::uint32_t forwarder_of(std::uint32_t rank) const { return forwarder_of_[rank]; }
  [[nodiscard]] bool is_forwarder(std::uint32_t rank) const { return forwarder_of_[rank] == rank; }
  [[nodiscard]] bool same_node(std::uint32_t a, std::uint32_t b) const { return forwarder_of_[a] == forwarder_of_[b]; }
  // Whether messages between the two ranks are forwarded.
  [[nodiscard]] bool forwarded(std::uint32_t a, std::uint32_t b) const {
    return !same_node(a, b) && !(is_forwarder(a) && is_forwarder(b));
  }
  // The other ranks of this node.
  [[nodiscard]] const std::vector<std::uint32_t>& locals() const { return locals_; }

  // The process behind this one on a path to `final`. Requires: final != me().
  [[nodiscard]] std::uint32_t next(std::uint32_t final) const;
  // Whether this process is on the path from `origin` to `final`, and not its beginning; `before` is then the process
  // before it.
  [[nodiscard]] bool find_before(std::uint32_t origin, std::uint32_t final, std::uint32_t& before) const;

 private:
  std::uint32_t me_;
  std::vector<std::uint32_t> forwarder_of_;
  std::vector<std::uint32_t> locals_;
};

}  // namespace margay::sim
