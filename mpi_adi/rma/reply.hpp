// Pooled objects for one-sided accesses in progress: an awaited answer (for example to a get, or to an accumulate with
// a result), and a message that has not left yet.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/device/pool.hpp"
#include "portals/match/match_entry.hpp"
#include "portals/memory/block.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::mpi_adi {

class Rma;
struct Window;
struct Outstanding;

// An awaited answer. Paper 001, 4.1: "Posting a receive is done exactly as if the receive were being posted for a
// normal MPI message, with a few exceptions": the entry's match bits differ from those of every MPI message, and its
// block saves the body without the header. It is a combined block, because the origin's memory may lie in pieces. A
// target also uses a Reply for a *described body*: the body of a put into several pieces of the window. The origin has
// described these pieces in a window request before (WindowRequestKind::put_pieces).
struct Reply final : Listener {
  // Index and generation are in the answer's match bits, so a late answer to an earlier use matches nothing.
  Pooled pooled;
  Rma* rma = nullptr;                            // the owner, which handles the arrival
  Window* window = nullptr;                      // nullptr: the window is freed (at_target only)
  int target = 0;                                // rank in the window; at a target the origin's
  Outstanding* request = nullptr;                // the request-based call that waits for it, or nullptr
  Pieces pieces;                                 // owns the layout of the origin's memory
  std::vector<portals::Buffer> table;            // as a target: the pieces of the window that a described body fills
  std::optional<portals::CombinedBlock> memory;  // empty for a described body that does not fit the window
  portals::MatchEntry entry;
  bool at_target = false;        // a described body, in the put portal's list
  bool reads = false;            // the answer contains bytes of the target's memory
  std::uint32_t generation = 0;  // see OperationCounter
  // Called by the device when the block is filled; ends the answer (Rma::take_reply).
  void notify() override;
};

// A message that its wire did not take at once. It owns the body, or refers to it, until the wire has taken the body.
struct Outgoing final : Listener {
  Pooled pooled;
  // The owner, and the peer's rank in the window, as in Reply.
  Rma* rma = nullptr;
  Window* window = nullptr;  // nullptr: no access waits for it
  int target = 0;
  Outstanding* request = nullptr;
  Pieces pieces;
  // The body, if this object owns it; a put's body stays in the origin's memory.
  std::vector<std::byte> body;         // a window request: head, pieces, and operands that were copied
  std::vector<portals::Buffer> table;  // the pieces of a body that is not one run
  sim::Transmission transmission;
  std::uint32_t generation = 0;  // see OperationCounter
  // Called by the device when the transmission has ended, sent or failed (Rma::end_sending).
  void notify() override;
};

}  // namespace margay::mpi_adi
