// The messages that the kernel sends by itself: acknowledgments, and the replies to gets.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "portals/base/assert.hpp"
#include "portals/deliver.hpp"
#include "sim/kernel/initiator.hpp"
#include "sim/trace/recorder.hpp"

namespace margay::sim {

// Owner tag of the kernel's own transmissions; programs use others.
inline constexpr std::uint32_t kOwnerKernel = 0;

// The number, in its ordered pair, of the message that `answer` answers. It travels in bytes 4 to 11 of an answer's
// user data, so that a trace can relate all hops of a message to the one that began them. Byte 0 of an acknowledgment
// is the paper's: the parts that were saved.
[[nodiscard]] std::uint64_t answered_sequence(const portals::Header& answer);

// Makes answers and keeps those that their wire could not take at once. Used under the process lock only. Answers keep
// the order in which they were made for each peer, because the wire does.
class Answers {
 public:
  // All references outlive it.
  Answers(Initiator& initiator, portals::Delivery& delivery, Recorder& recorder)
      : initiator_(initiator), delivery_(delivery), recorder_(recorder) {}

  // Acknowledges `header`, message `sequence` of its pair, to its sender with the parts that were saved. Requires:
  // verdict.acknowledge.
  void acknowledge(const portals::Verdict& verdict, const portals::Header& header, std::uint64_t sequence);
  // Sends the bytes that a get requested. The counters of the descriptor change when the wire has taken the bytes; from
  // then on the program may reuse the memory. Requires: the verdict's outcome is `reply`.
  void reply(const portals::Verdict& verdict, const portals::Header& header, std::uint64_t sequence);
  // Declares that the memory behind this portal may change while a reply is read out of it: see
  // Transmission::may_change.
  void replies_may_change(portals::PortalIndex portal) {
    MARGAY_ASSERT(portal < portals::kPortalCount);
    changing_portals_ |= std::uint64_t{1} << portal;
  }
  // Ends one of the kernel's own transmissions, which came off the list of finished ones.
  void finish(Transmission& transmission);
  // Whether no answer is queued.
  [[nodiscard]] bool idle() const { return under_way_ == 0; }

 private:
  // An answer that its wire could not take at once. Pooled: a flood of gets allocates once. `asked` is the header of
  // the answered message; with `verdict` it completes a get when the reply has been sent.
  struct Pending {
    Transmission transmission;
    portals::Verdict verdict;
    portals::Header asked;
  };
  // Sends an answer that its wire could not take at once.
  void queue(const portals::Header& answer, const portals::Verdict& verdict, const portals::Header& asked);

  // Constant after construction.
  Initiator& initiator_;
  portals::Delivery& delivery_;
  Recorder& recorder_;
  // All Pendings ever made; `free_` lists those that are not in use. Grows to the most answers that were ever queued at
  // once, and is freed with the kernel.
  std::vector<std::unique_ptr<Pending>> pool_;
  std::vector<Pending*> free_;
  // Answers that are queued.
  std::uint64_t under_way_ = 0;
  std::uint64_t changing_portals_ = 0;  // bit per portal
};

}  // namespace margay::sim
