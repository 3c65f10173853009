// Collective operations of a program's processes: a sum over all of them, from which barrier and settle are made.
// Internal to program.
//
// A sum goes up a binomial tree to rank 0, and the result comes down again, by puts to the control portal, which has a
// heap of its own. Their match bits: 32 bits call, 31 bits sum in the call, 1 bit direction. So a call that ended early
// on some processes does not disturb the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "portals/base/status.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/machine/process.hpp"

namespace margay::sim {

// The values that are summed over all processes, and the body of a control message.
struct Sums {
  // Messages of the program.
  std::uint64_t sent = 0;
  // Messages of the program that were delivered or dropped.
  std::uint64_t taken = 0;
  // Processes whose patience has ended.
  std::uint64_t given_up = 0;
};

// The services of a program that its control portal uses.
struct ControlMeans {
  Process& process;
  // The control portal; no other code attaches there.
  portals::PortalIndex portal;
  std::function<portals::Status(const portals::Header& header, const portals::Region& body)> send;
  // One round.
  std::function<bool()> progress;
  // Makes rounds until `done`, in the program's `call`, for a message from `from`. Fails as Program::barrier() does, or
  // after limit_ns.
  using Done = std::function<bool()>;
  std::function<portals::Status(const char* call, portals::Rank from, std::uint64_t limit_ns, const Done& done)> wait;
};

// The control portal of a program, and the operations over it. Used by the program's thread only.
class Control {
 public:
  // Requires: the objects that `means` refers to outlive this.
  explicit Control(ControlMeans means);
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  ~Control();
  // Attaches the heap to the control portal, and reserves the portal.
  [[nodiscard]] portals::Status attach();
  // Control messages sent so far, each of sizeof(Sums) bytes.
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

  // See Program. `call`: the program's, for reports; each wait in it lasts limit_ns at most.
  [[nodiscard]] portals::Status barrier(const char* call, std::uint64_t limit_ns);
  // Returns when the job is at rest: when two successive sums report as many messages taken as sent, with the same
  // number both times. Equal numbers in both prove that no message was in flight between the two sums (F. Mattern's
  // four-counter method, 1987). Fails also when messages are left that have not moved for patience_ns.
  [[nodiscard]] portals::Status settle(const char* call, std::uint64_t limit_ns, std::uint64_t patience_ns);

 private:
  static constexpr std::size_t kHeapBytes = std::size_t{64} * 1024;
  // Frees memory of this alignment.
  struct Freer {
    void operator()(std::byte* memory) const;
  };

  // Begins a call of barrier or settle; messages that arrived too late for earlier calls are discarded.
  void begin_call(const char* call, std::uint64_t limit_ns);
  // Adds up the sums of all processes. Returns only after all have called.
  [[nodiscard]] portals::Status sum(Sums& sums);
  // Waits for a control message of `from`, and takes its sums out of the heap.
  [[nodiscard]] portals::Status receive(portals::Rank from, portals::MatchBits bits, Sums& sums);
  // Sends sums to `to`.
  [[nodiscard]] portals::Status send(portals::Rank to, portals::MatchBits bits, Sums& sums);
  // This process's sums, without control messages.
  [[nodiscard]] Sums own() const;

  ControlMeans means_;
  std::unique_ptr<std::byte, Freer> memory_;
  // Control messages that have arrived, in memory_.
  portals::DynamicBlock heap_;
  // Match bits of the latest sum.
  portals::MatchBits bits_ = 0;
  // The program's call in progress.
  const char* call_ = nullptr;
  // Limit of each wait in this call.
  std::uint64_t limit_ns_ = 0;
  // Control messages.
  std::uint64_t sent_ = 0;
};

}  // namespace margay::sim
