// A receive under way, with its match entry of figure 1.
#pragma once

#include <array>
#include <string_view>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/device/pool.hpp"
#include "mpi_adi/device/request.hpp"
#include "portals/match/match_entry.hpp"
#include "portals/memory/independent_block.hpp"

namespace margay::portals {
struct ArrivedMessage;
}

namespace margay::mpi_adi {

enum class ReceiveState : std::uint8_t {
  idle,
  posted,    // its entry is active
  claiming,  // a message of the heap is its own; the body is still on its way there
  pulling,   // a get is out, the entry waits for the reply
  complete,
};
[[nodiscard]] std::string_view name(ReceiveState state);

struct ReceiveRequest : Request {
  ReceiveRequest() { block.set_owner(this, kOwnerReceive); }
  Pooled pooled;
  ReceiveState state = ReceiveState::idle;
  bool truncated = false;
  bool synchronous = false;                // the sender waits for our answer
  bool in_pieces = false;                  // `pieces` refers to the datatype's layout
  bool expecting = false;                  // the kernel was told to expect an answer
  std::uint32_t peer = portals::kAnyRank;  // rank in the world; any while a wildcard is unmatched
  portals::MatchBits answer_bits = 0;      // of the sender's entries
  Pieces pieces;
  portals::ArrivedMessage* claimed = nullptr;
  ReceiveRequest* next_claiming = nullptr;
  // "Each match list entry for a posted receive uses an independent block memory descriptor configured to save both the
  // message header and the message body. Each ... contains only one buffer."
  std::array<portals::IndependentBuffer, 1> row;
  portals::IndependentBlock block{row, portals::Progression::circular};
  portals::MatchEntry entry;
  // Overlaid on the entry, saves what fits; reached by the entry's too-small link: a truncated message.
  portals::MatchEntry overflow;
  std::uint64_t sent_bytes = 0;  // of a truncated one: the message's

  // The user's buffer.
  [[nodiscard]] const portals::Region& room() const { return row[0].memory; }
};

}  // namespace margay::mpi_adi
