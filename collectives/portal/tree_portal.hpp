// The portal structures of the short message collectives (paper 001, section 3.1, figure 8). A match list contains a
// single (or combined) block while a message is awaited, and behind it a heap for early messages.
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

// Bytes above which a parent sends only after its child's ready notice, so that no body is copied twice. The paper: "it
// may be desirable to avoid memory copies completely, in which case it is worthwhile to add an additional handshake";
// "larger than say 10Kbytes".
inline constexpr std::uint64_t kHandshakeBytes = std::uint64_t{16} * 1024;

// The structures of a rank's collectives: tree portal, ready portal, stream portals, and the pools that calls use.
// MpiRank owns one, from its start to its end. Under the process lock.
class TreePortal final : public mpi_adi::RankExtension, private mpi_adi::Listener {
 public:
  // Bounds for early messages and notices of calls that this process has not begun.
  struct Limits {
    // Bytes of the heap of early messages; fewer where the operating system does not reserve that much address space.
    std::size_t heap_bytes = std::size_t{1} << 30;
    // Bytes of the second heap; 0: the process's share of the memory, but at least heap_bytes.
    std::size_t spill_bytes = 0;
    std::size_t early_notices = kEarlyMax;
  };
  // Takes portals 3 and 4 of the host's table. Requires: no message has arrived yet.
  explicit TreePortal(std::unique_ptr<Host> host);
  TreePortal(std::unique_ptr<Host> host, const Limits& limits);
  ~TreePortal() override;

  // Match bits of a call's message from rank `source` of the communicator.
  [[nodiscard]] static portals::MatchBits bits(CallNumber number, int source, mpi_adi::ContextId context);

  // The rank's interface for waiting and for facts; the portal owns it.
  [[nodiscard]] Host& host() { return *host_; }
  [[nodiscard]] Notices& notices() { return notices_; }
  // The pool of the routines' coroutine frames.
  [[nodiscard]] mpi_adi::FramePool& frames() { return frames_; }
  // Temporary memory of a call.
  [[nodiscard]] KeptMemory::Run take_memory(std::uint64_t bytes) { return KeptMemory::take(memory_of_calls_, bytes); }
  // The nonblocking calls of each communicator, in the order of their numbers.
  [[nodiscard]] CallOrder& order() { return order_; }
  // Enables the check of collective calls (CallCheck); check() is null while it is disabled.
  void check_calls(sim::Findings& findings, sim::SourceLines& lines);
  [[nodiscard]] CallCheck* check() { return check_.get(); }
  // Counts of the messages and bytes of collective calls: sent() as messages, shown() through shared memory.
  [[nodiscard]] const sim::WireCounts& sent() const override { return sent_; }
  [[nodiscard]] const sim::WireCounts& shown() const override { return shown_; }
  // Discards early messages of a communicator whose contexts are about to be reused.
  void discard_messages(const mpi_adi::Communicator& communicator) override;
  // Discards the messages of a call which that call never received.
  void discard_call(const mpi_adi::Communicator& communicator, CallNumber number);
  // An unused portal for a stream, or the tree portal if all are in use; give_back_stream() returns it to the pool.
  [[nodiscard]] portals::PortalIndex take_stream();
  void give_back_stream(portals::PortalIndex portal);

 private:
  // Friends put blocks into the match list, search the heap, or count messages.
  friend class Collective;
  friend class Receive;
  friend class ReceiveRows;
  friend class StreamReceive;
  friend class Shown;

  // Called when a message, or the remainder of one, has arrived in the heap: wakes the message's call. The cost does
  // not depend on the number of calls in progress.
  void notify() override;
  // Registers a call that waits for the remainder of a message in the heap.
  void await_remainder(const portals::Header& header) { remainders_.push_back(header); }
  // Discards the complete messages that match.
  void discard(const portals::Criteria& criteria);

  std::unique_ptr<Host> host_;
  // Counts since the rank began.
  sim::WireCounts sent_;
  sim::WireCounts shown_;
  mpi_adi::FramePool frames_;
  std::shared_ptr<KeptMemory> memory_of_calls_ = std::make_shared<KeptMemory>();
  CallOrder order_;
  // Portal 3. Figure 8: "the match list, and message heap are setup and initialized. The single block memory buffer is
  // not present."
  portals::MatchList list_;
  mpi_adi::Unexpected heap_;
  // Messages whose remainder a call waits for.
  std::vector<portals::Header> remainders_;
  Notices notices_;  // portal 4
  // Null without --check-types.
  std::unique_ptr<CallCheck> check_;
  std::uint32_t streams_in_use_ = 0;  // a bit for each portal of the pool
};

}  // namespace margay::collectives
