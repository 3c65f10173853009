// What the kernel sends on its own: acknowledgments, and the replies to gets.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "portals/base/assert.hpp"
#include "portals/deliver.hpp"
#include "sim/kernel/initiator.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::sim {

// Owner kind of the kernel's own transmissions; programs use others.
inline constexpr std::uint32_t kOwnerKernel = 0;

// The number of the answered message in its ordered pair travels in bytes 4 to 11 of an answer's user data, so that
// each hop of a message can be told by the identity of the message that began it. Byte 0 of an acknowledgment is the
// paper's: what was saved.
[[nodiscard]] std::uint64_t answered_sequence(const portals::Header& answer);

class Answers {
 public:
  Answers(Initiator& initiator, portals::Delivery& delivery, Recorder& recorder)
      : initiator_(initiator), delivery_(delivery), recorder_(recorder) {}

  // Tells the sender of `header` (message `sequence` of its pair) what was saved of it. Requires: verdict.acknowledge.
  void acknowledge(const portals::Verdict& verdict, const portals::Header& header, std::uint64_t sequence);
  // Sends the bytes that a get asked for. Their descriptor's counters tell it once the bytes have been taken.
  void reply(const portals::Verdict& verdict, const portals::Header& header, std::uint64_t sequence);
  // Gets of this portal are answered out of memory that others write: see Transmission::may_change.
  void replies_may_change(portals::PortalIndex portal) {
    MARGAY_ASSERT(portal < portals::kPortalCount);
    changing_portals_ |= std::uint64_t{1} << portal;
  }
  // A transmission of the kernel's own is finished.
  void finish(Transmission& transmission);
  [[nodiscard]] bool idle() const { return under_way_ == 0; }

 private:
  // An answer that found its wire full. From a pool: a flood of gets makes many, once.
  struct Pending {
    Transmission transmission;
    portals::Verdict verdict;
    portals::Header asked;
  };
  void queue(const portals::Header& answer, const portals::Verdict& verdict, const portals::Header& asked);

  Initiator& initiator_;
  portals::Delivery& delivery_;
  Recorder& recorder_;
  std::vector<std::unique_ptr<Pending>> pool_;
  std::vector<Pending*> free_;
  std::uint64_t under_way_ = 0;
  std::uint64_t changing_portals_ = 0;  // bit per portal
};

}  // namespace margay::sim
