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
#include <vector>

#include "collectives/portal/call_number.hpp"
#include "collectives/portal/kept_memory.hpp"
#include "collectives/portal/notices.hpp"
#include "mpi_adi/device/unexpected.hpp"
#include "mpi_adi/rank/extension.hpp"
#include "portals/match/match_list.hpp"
#include "sim/base/accounting.hpp"

namespace margay::sim {
class Findings;
class SourceLines;
}  // namespace margay::sim

namespace margay::collectives {

class CallCheck;  // collectives/portal/call_check

// Above this, a parent sends only when its child has said that it is ready, so that no body is copied twice ("it may be
// desirable to avoid memory copies completely, in which case it is worthwhile to add an additional handshake"; "larger
// than say 10Kbytes").
inline constexpr std::uint64_t kHandshakeBytes = std::uint64_t{16} * 1024;

class TreePortal final : public mpi_adi::RankExtension, private mpi_adi::Listener {
 public:
  // What may lie here of calls that this process has not come to.
  struct Limits {
    std::size_t heap_bytes = std::size_t{1} << 30;  // messages; less where the address space refuses so much
    std::size_t spill_bytes = 0;                    // of the second heap; 0: the process's share of the memory
    std::size_t early_notices = kEarlyMax;
  };
  // Takes portals 3 and 4 of the host's table. Requires: no message has arrived yet.
  explicit TreePortal(std::unique_ptr<Host> host);
  TreePortal(std::unique_ptr<Host> host, const Limits& limits);
  ~TreePortal() override;

  // For the message of the call, from rank `source` of the communicator.
  [[nodiscard]] static portals::MatchBits bits(CallNumber number, int source, mpi_adi::ContextId context);

  [[nodiscard]] Host& host() { return *host_; }
  [[nodiscard]] Notices& notices() { return notices_; }
  // Of the algorithms' texts.
  [[nodiscard]] mpi_adi::FramePool& frames() { return frames_; }
  // For a call's time.
  [[nodiscard]] KeptMemory::Run take_memory(std::uint64_t bytes) { return KeptMemory::take(memory_of_calls_, bytes); }
  // The calls on a communicator that do not block, in the order of their numbers.
  [[nodiscard]] CallOrder& order() { return order_; }
  // Compares the members' calls from now on; see CallCheck. nullptr: nobody asked for it.
  void check_calls(sim::Findings& findings, sim::SourceLines& lines);
  [[nodiscard]] CallCheck* check() { return check_.get(); }
  // Messages and bytes that collective calls sent.
  [[nodiscard]] const sim::WireCounts& sent() const override { return sent_; }
  [[nodiscard]] const sim::WireCounts& shown() const override { return shown_; }
  void forget_messages(const mpi_adi::Communicator& communicator) override;
  // Gives up what came for a call and was never taken.
  void forget_call(const mpi_adi::Communicator& communicator, CallNumber number);
  // A portal that nobody uses, for a stream; the tree portal when there is none.
  [[nodiscard]] portals::PortalIndex take_stream();
  void give_back_stream(portals::PortalIndex portal);

 private:
  friend class Collective;
  friend class Receive;
  friend class ReceiveRows;
  friend class StreamReceive;
  friend class Shown;

  // The heap has a message, or the remainder of one. Wakes the calls that they belong to: with thousands under way a
  // message costs what its own call costs.
  void told() override;
  // Of a call that waits for the remainder.
  void await_remainder(const portals::Header& header) { remainders_.push_back(header); }
  void forget(const portals::Criteria& criteria);

  std::unique_ptr<Host> host_;
  sim::WireCounts sent_;
  sim::WireCounts shown_;
  mpi_adi::FramePool frames_;
  std::shared_ptr<KeptMemory> memory_of_calls_ = std::make_shared<KeptMemory>();
  CallOrder order_;
  // Portal 3. Figure 8: "the match list, and message heap are setup and initialized. The single block memory buffer is
  // not present."
  portals::MatchList list_;
  mpi_adi::Unexpected heap_;
  std::vector<portals::Header> remainders_;
  Notices notices_;  // portal 4
  std::unique_ptr<CallCheck> check_;
  std::uint32_t streams_in_use_ = 0;  // a bit for each of the pool
};

}  // namespace margay::collectives
