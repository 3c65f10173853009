// An origin's pooled objects for accesses under way: a reply that it awaits (a get's, an accumulate's result), and a
// body that has not left yet.
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
// normal MPI message, with a few exceptions": its match bits are those of no message, and a block saves the body
// without its header. The block is a combined one, because the origin's memory may lie in pieces. A target uses it also
// for a body that an ask described.
struct Reply final : Listener {
  // Index and generation make the answer's match bits, so a late answer to an earlier use matches nothing.
  Pooled pooled;
  Rma* rma = nullptr;                            // the owner; calls back into it when something arrives
  Window* window = nullptr;                      // nullptr: the window is freed (at_target only)
  int target = 0;                                // rank in the window; at a target the origin's
  Outstanding* request = nullptr;                // the request-based call that waits for it, or nullptr
  Pieces pieces;                                 // the datatype of the origin's memory
  std::vector<portals::Buffer> table;            // as a target: the pieces of the window that a described body fills
  std::optional<portals::CombinedBlock> memory;  // empty for a described body that does not fit the window
  portals::MatchEntry entry;
  bool at_target = false;        // a described body, in the put portal's list
  bool reads = false;            // its bytes are read at the target, not only a confirmation
  std::uint32_t generation = 0;  // see UnderWay
  // Called by the device when the block is filled; ends the answer (Rma::came).
  void notify() override;
};

// A message that its wire did not take at once. It owns the body, or refers to it, until the body has left.
struct Outgoing final : Listener {
  Pooled pooled;
  // As in Reply: the owner, and the peer's rank in the window.
  Rma* rma = nullptr;
  Window* window = nullptr;  // nullptr: no access waits for it
  int target = 0;
  Outstanding* request = nullptr;
  Pieces pieces;
  // The body, if this object owns it; a put's body stays in the origin's memory.
  std::vector<std::byte> body;         // an ask's head and operands
  std::vector<portals::Buffer> table;  // of a body in pieces of the window
  sim::Transmission transmission;
  std::uint32_t generation = 0;  // see UnderWay
  // Called by the device when the transmission has ended, sent or failed (Rma::finished).
  void notify() override;
};

}  // namespace margay::mpi_adi
