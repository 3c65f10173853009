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

// The number, in its ordered pair, of the put or get that `answer` answers. Each answer carries this number in bytes 4
// to 11 of its user data, so that a trace can relate the answer to that message. The paper defines byte 0 of an
// acknowledgment: the parts that were saved.
[[nodiscard]] std::uint64_t answered_sequence(const portals::Header& answer);

// The maker of a kernel's answers. It keeps the answers that their wire could not take at once. Used under the process
// lock only. The answers to one peer leave in the order in which they were made, because a wire keeps the order of its
// messages to a peer.
class Answers {
 public:
  // All references outlive this object.
  Answers(Initiator& initiator, portals::Delivery& delivery, Recorder& recorder)
      : initiator_(initiator), delivery_(delivery), recorder_(recorder) {}

  // Acknowledges `header`, message `sequence` of its pair, to its sender with the parts that were saved. Requires:
  // verdict.acknowledge.
  void acknowledge(const portals::Verdict& verdict, const portals::Header& header, std::uint64_t sequence);
  // Sends the bytes that a get requested. When the wire has taken the bytes, the counters of the descriptor change, and
  // the program may reuse the memory. Requires: the verdict's outcome is `reply`.
  void reply(const portals::Verdict& verdict, const portals::Header& header, std::uint64_t sequence);
  // Declares that the memory of `portal` may change while a wire sends a reply from that memory; see
  // Transmission::may_change. Applies to replies that are queued later.
  void replies_may_change(portals::PortalIndex portal) {
    MARGAY_ASSERT(portal < portals::kPortalCount);
    changing_portals_ |= std::uint64_t{1} << portal;
  }
  // Ends one of the kernel's own transmissions. Called when it comes off the list of finished transmissions.
  void finish(Transmission& transmission);
  // Sends a message without a body that no one answers, such as a marker; queues it if the wire is full.
  void send_marker(const portals::Header& marker, WayCode way) {
    if (!initiator_.try_send(marker, {}, way)) queue(marker, {}, marker, way);
  }
  // Whether no answer is queued.
  [[nodiscard]] bool idle() const { return queued_answers_ == 0; }

 private:
  // An answer that its wire could not take at once. Pooled, so that a second flood of gets allocates nothing. `asked`
  // is the header of the answered message. When a reply has been sent, `verdict` and `asked` complete the get.
  struct Pending {
    Transmission transmission;
    portals::Verdict verdict;
    portals::Header asked;
  };
  // Queues an answer that its wire could not take at once.
  void queue(const portals::Header& answer, const portals::Verdict& verdict, const portals::Header& asked, WayCode way);

  // Constant after construction.
  Initiator& initiator_;
  portals::Delivery& delivery_;
  Recorder& recorder_;
  // All Pendings ever made; `free_` lists those that are not in use. The pool grows to the most answers that were ever
  // queued at once, and is freed with the kernel.
  std::vector<std::unique_ptr<Pending>> pool_;
  std::vector<Pending*> free_;
  // Answers that are queued.
  std::uint64_t queued_answers_ = 0;
  std::uint64_t changing_portals_ = 0;  // bit per portal
};

}  // namespace margay::sim
