// A send under way, with the portal structures of figure 2: an entry for its acknowledgments, an entry for its body.
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

// What a send still waits for; it is complete when it waits for nothing. They may come in any order.
enum SendOwed : std::uint8_t {
  kOwedBodyTaken = 1,       // the kernel has taken the body
  kOwedAcknowledgment = 2,  // the target's kernel says what it saved
  kOwedRead = 4,            // the receiver pulls the body
  kOwedSynchronous = 8,     // the receiver's device says that a receive took the message
  kOwedCancel = 16,         // the receiver's device says whether it gave the message back
};

struct SendRequest : Request {
  Pooled pooled;
  std::uint8_t owed = 0;   // SendOwed
  bool listening = false;  // its acknowledgment entry is listed
  bool readable = false;   // its read entry is listed
  bool read_done = false;  // the body has been pulled
  bool expecting = false;  // the kernel was told to expect an answer
  bool synchronous = false;
  bool buffered = false;
  sim::TraceProtocol protocol = sim::TraceProtocol::none;
  std::uint32_t peer = 0;  // rank in the world
  portals::Region body;
  Pieces pieces;
  sim::Transmission transmission;
  // Figure 2, left: rows for the kernel's acknowledgment, the synchronous answer, and the answer to a cancel.
  std::array<portals::IndependentBuffer, 3> answers;
  portals::IndependentBlock answer_block{answers, portals::Progression::circular};
  portals::MatchEntry answer_entry;
  // Figure 2, right. One of the two while readable.
  std::optional<portals::SingleBlock> read_single;
  std::optional<portals::CombinedBlock> read_combined;
  portals::MatchEntry read_entry;
};

}  // namespace margay::mpi_adi
