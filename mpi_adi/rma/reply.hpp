// What an origin waits for (a get's reply, an accumulate's result), and what is on its way out of it.
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

// "Posting a receive is done exactly as if the receive were being posted for a normal MPI message, with a few
// exceptions": its match bits are no message's, and a block takes the body without its header (paper 001, 4.1). The
// block is a combined one: the origin's memory may lie in pieces.
struct Reply final : Listener {
  Pooled pooled;
  Rma* rma = nullptr;
  Window* window = nullptr;
  int target = 0;
  Outstanding* request = nullptr;
  Pieces pieces;
  std::vector<portals::Buffer> table;  // as a target: of a body that comes to pieces of the window
  std::optional<portals::CombinedBlock> memory;
  portals::MatchEntry entry;
  bool at_target = false;
  bool reads = false;            // brings what was read at the target
  std::uint32_t generation = 0;  // see UnderWay
  void told() override;
};

struct Outgoing final : Listener {
  Pooled pooled;
  Rma* rma = nullptr;
  Window* window = nullptr;  // null: of nobody's access
  int target = 0;
  Outstanding* request = nullptr;
  Pieces pieces;
  std::vector<std::byte> body;         // its own, of an ask
  std::vector<portals::Buffer> table;  // of a body out of pieces of the window
  sim::Transmission transmission;
  std::uint32_t generation = 0;
  void told() override;
};

}  // namespace margay::mpi_adi
