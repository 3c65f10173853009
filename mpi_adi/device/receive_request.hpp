// A receive under way, with its match entry (figure 1). Pooled.
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

// The states of a receive, which only the steps in mpi_adi/protocol change. An idle receive becomes posted, claiming,
// pulling or complete; a posted receive becomes pulling or complete; a claiming or pulling receive becomes complete.
enum class ReceiveState : std::uint8_t {
  // In no list, without a message.
  idle,
  posted,    // its entry is listed and active
  claiming,  // it has claimed a message of the heap whose body is still arriving there
  pulling,   // its get was sent; the entry accepts the reply
  complete,
};
// The state's name in reports.
[[nodiscard]] std::string_view name(ReceiveState state);

// The device's part of a receive. The descriptor's owner tag points here, so the address must not change.
struct ReceiveRequest : Request {
  ReceiveRequest() { block.set_owner_tag(this, kOwnerReceive); }
  Pooled pooled;
  ReceiveState state = ReceiveState::idle;
  bool truncated = false;                  // the message is longer than the buffer
  bool synchronous = false;                // the sender waits for an answer
  bool in_pieces = false;                  // `pieces` refers to the datatype's layout
  bool expecting = false;                  // the kernel expects an answer from `peer`
  std::uint32_t peer = portals::kAnyRank;  // rank in the world; kAnyRank while a wildcard is unmatched
  // The match bits of the sender's entries, which a get or a synchronous answer carries. 0: the sender waits for no
  // answer.
  portals::MatchBits answer_bits = 0;
  // Refers to the datatype's layout, if the buffer has gaps.
  Pieces pieces;
  portals::ArrivedMessage* claimed = nullptr;  // while claiming: the message
  ReceiveRequest* next_claiming = nullptr;     // the list DeviceParts::claiming
  // "Each match list entry for a posted receive uses an independent block memory descriptor configured to save both the
  // message header and the message body. Each ... contains only one buffer."
  std::array<portals::IndependentBuffer, 1> row;
  portals::IndependentBlock block{row, portals::Progression::circular};
  // Listed while posted, and again while pulling, with other criteria.
  portals::MatchEntry entry;
  // Overlaid on the entry, and reached only through that entry's too-small link. It saves as much of a truncated
  // message as fits.
  portals::MatchEntry overflow;
  std::uint64_t sent_bytes = 0;  // length of the message; set only if it was truncated or had a note

  // The program's buffer.
  [[nodiscard]] const portals::Region& room() const { return row[0].memory; }
};

}  // namespace margay::mpi_adi
