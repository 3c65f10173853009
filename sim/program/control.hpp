// What a program's processes do together: a sum over all of them, and from it barrier and settle. Internal to program.
//
// A sum goes up a binomial tree to rank 0 and the result comes down again, by puts to the control portal, which are
// taken out of a heap of its own. Their match bits: 32 bits call, 31 bits sum in the call, 1 bit direction. So a call
// that ended early on some processes does not put the next one out of step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "portals/base/status.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "sim/machine/process.hpp"

namespace margay::sim {

struct Sums {
  std::uint64_t sent = 0;      // messages of the program
  std::uint64_t taken = 0;     // the same, delivered or dropped
  std::uint64_t given_up = 0;  // processes whose patience is at its end
};

// What a program lends its control portal.
struct ControlMeans {
  Process& process;
  portals::PortalIndex portal;
  std::function<portals::Status(const portals::Header& header, const portals::Region& body)> send;
  std::function<bool()> progress;  // one round
  // Rounds until `done`, in the program's `call`, for what `from` sends. Error: see Program::barrier; or limit_ns have
  // passed.
  using Done = std::function<bool()>;
  std::function<portals::Status(const char* call, portals::Rank from, std::uint64_t limit_ns, const Done& done)> wait;
};

class Control {
 public:
  // What the means refer to outlives it.
  explicit Control(ControlMeans means);
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  ~Control();
  [[nodiscard]] portals::Status attach();
  // Control messages sent, each of sizeof(Sums).
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

  // See Program. `call` is the program's; each wait in it lasts limit_ns at most.
  [[nodiscard]] portals::Status barrier(const char* call, std::uint64_t limit_ns);
  // The job is at rest when two sums in a row say that as many messages were taken as sent, the same number both times:
  // what was taken by the first sum had all been sent by the second, and nothing more. Error also: nothing has moved
  // for patience_ns.
  [[nodiscard]] portals::Status settle(const char* call, std::uint64_t limit_ns, std::uint64_t patience_ns);

 private:
  static constexpr std::size_t kHeapBytes = std::size_t{64} * 1024;
  struct Freer {
    void operator()(std::byte* memory) const;
  };

  // A new call of barrier or settle; what came too late for the one before is thrown away.
  void begin_call(const char* call, std::uint64_t limit_ns);
  // Every process's sums, added up. Nobody returns before everybody has called.
  [[nodiscard]] portals::Status sum(Sums& sums);
  [[nodiscard]] portals::Status receive(portals::Rank from, portals::MatchBits bits, Sums& sums);
  [[nodiscard]] portals::Status send(portals::Rank to, portals::MatchBits bits, Sums& sums);
  // This process's messages, without the control portal's.
  [[nodiscard]] Sums own() const;

  ControlMeans means_;
  std::unique_ptr<std::byte, Freer> memory_;
  portals::DynamicBlock heap_;
  portals::MatchBits bits_ = 0;  // of the latest sum
  const char* call_ = nullptr;   // the program's, under way
  std::uint64_t limit_ns_ = 0;   // of each wait in this call
  std::uint64_t sent_ = 0;       // control messages
};

}  // namespace margay::sim
