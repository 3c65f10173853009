// The portal structures of the short message collectives (paper 001, section 3.1, figure 8): a match list in which a
// single (or combined) block stands while a message is awaited, and a message heap behind it for messages that come
// first.
//
// Overlapping operations do not mix (section 3.3 offers "separate portals, sequence numbers, or some other form of
// matching criteria"): the match bits carry the number of the collective call on its communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "collectives/portal/host.hpp"
#include "mpi_adi/device/heap_memory.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "portals/match/match_list.hpp"
#include "portals/memory/combined_block.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/memory/single_block.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::collectives {

// Above this, a parent sends only when its child has said that it is ready, so that no body is copied twice ("it may be
// desirable to avoid memory copies completely, in which case it is worthwhile to add an additional handshake"; "larger
// than say 10Kbytes").
inline constexpr std::uint64_t kHandshakeBytes = std::uint64_t{16} * 1024;

class TreePortal final : public mpi_adi::RankExtension {
 public:
  // Takes portals 3 and 4 of the host's table. Requires: no message has arrived yet.
  explicit TreePortal(std::unique_ptr<Host> host);
  ~TreePortal() override;

  // For the message of the call, from rank `source` of the communicator.
  [[nodiscard]] static portals::MatchBits bits(std::uint64_t sequence, int source, mpi_adi::ContextId context);

  [[nodiscard]] Host& host() { return *host_; }
  // Messages and bytes that collective calls sent.
  [[nodiscard]] const sim::WireCounts& sent() const override { return sent_; }

 private:
  friend class Collective;
  friend class Awaited;
  friend class FanIn;

  // Figure 8: "the match list, and message heap are setup and initialized. The single block memory buffer is not
  // present."
  struct Side {
    explicit Side(std::uint64_t heap_bytes);
    mpi_adi::HeapMemory memory;
    portals::DynamicBlock heap;
    portals::MatchList list;
    portals::MatchEntry catch_all;
  };

  std::unique_ptr<Host> host_;
  sim::WireCounts sent_;
  Side tree_;   // portal 3
  Side ready_;  // portal 4: header only
};

}  // namespace margay::collectives
