// A send under way, with the portal structures of figure 2: an entry for its acknowledgments and an entry for its body.
// Pooled.
#pragma once

#include <array>
#include <optional>

#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/device/pool.hpp"
#include "mpi_adi/device/request.hpp"
#include "portals/match/match_entry.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/independent_block.hpp"
#include "sim/trace/event.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::mpi_adi {

// The events that a send may still wait for, as a set of bits. The send is complete when the set is empty. The events
// occur in any order.
enum SendEvent : std::uint8_t {
  kEventBodyTaken = 1,       // the kernel has taken the body
  kEventAcknowledgment = 2,  // the target's kernel reports what it saved
  kEventRead = 4,            // the receiver pulls the body
  kEventSynchronous = 8,     // the receiver's device reports that a receive took the message
  kEventCancel = 16,         // the receiver's device reports whether it gave the message back
};

// The device's part of a send. Owner tags of its descriptors and its transmission point here.
struct SendRequest : Request {
  Pooled pooled;
  std::uint8_t events = 0;  // those it waits for, a set of SendEvent
  bool listening = false;   // its acknowledgment entry is listed
  bool readable = false;    // its read entry is listed
  bool read_done = false;   // the body has been pulled
  bool expecting = false;   // the kernel expects an answer from `peer`
  // The send mode, set at the start and needed until the end: a synchronous send waits for an answer, and reports name
  // a buffered send as such.
  bool synchronous = false;
  bool buffered = false;                                   // counted at its start, and copied into the attached buffer
  sim::TraceProtocol protocol = sim::TraceProtocol::none;  // chosen at its start, for traces and reports
  std::uint32_t peer = 0;                                  // rank in the world
  // The program's bytes, or the attached buffer's. Must stay valid until the request is complete.
  portals::Region body;
  // Refers to the datatype's layout, if the body has gaps.
  Pieces pieces;
  sim::Transmission transmission;
  // Figure 2, left: one row each for the kernel's acknowledgment, the synchronous answer, and the answer to a cancel.
  // A send gets at most these three.
  std::array<portals::IndependentBuffer, 3> answers;
  portals::IndependentBlock answer_block{answers, portals::Progression::circular};
  // Listed while listening; criteria: the answer bits, from the peer only.
  portals::MatchEntry answer_entry;
  // Figure 2, right: the descriptor of the body. One of the two exists while readable: contiguous, or in pieces.
  std::optional<portals::SingleBlock> read_single;
  std::optional<portals::CombinedBlock> read_combined;
  portals::MatchEntry read_entry;
};

}  // namespace margay::mpi_adi
