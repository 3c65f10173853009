#include "mpi_adi/progress/progress.hpp"

#include "mpi_adi/protocol/cancel.hpp"
#include "mpi_adi/protocol/notice.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/receive.hpp"
#include "mpi_adi/protocol/send_events.hpp"
#include "mpi_adi/protocol/take_unexpected.hpp"

namespace margay::mpi_adi {

namespace {

void descriptor_changed(DeviceParts& parts, portals::Descriptor& descriptor) {
  void* const owner = descriptor.owner();
  switch (descriptor.owner_kind()) {
    case kOwnerReceive:
      return message_came(parts, *static_cast<ReceiveRequest*>(owner));  // protocol/receive
    case kOwnerHeap:
      return heap_changed(parts);  // protocol/take_unexpected
    case kOwnerAcknowledgment:
      return answers_came(parts, *static_cast<SendRequest*>(owner));  // protocol/send_events
    case kOwnerRead:
      return body_read(parts, *static_cast<SendRequest*>(owner));
    case kOwnerCancel:
      return cancels_asked(parts);  // protocol/cancel
    default:
      return;  // collectives and one-sided look at their descriptors themselves
  }
}

void transmission_finished(DeviceParts& parts, sim::Transmission& transmission) {
  switch (transmission.owner_kind) {
    case kOwnerSend:
      return body_taken(parts, *static_cast<SendRequest*>(transmission.owner));  // protocol/send_events
    case kOwnerNotice:
      return notice_finished(parts, *static_cast<Notice*>(transmission.owner));  // protocol/notice
    default:
      return;  // its owner looks at its state
  }
}

// One message of each wire, and what it changed.
bool step(DeviceParts& parts) {
  bool moved = parts.kernel.progress(1);  // sim/kernel: wires, match, deposit, answer
  while (portals::Descriptor* const descriptor = parts.kernel.changed().take()) {
    descriptor_changed(parts, *descriptor);
    moved = true;
  }
  return moved;
}

}  // namespace

bool progress(DeviceParts& parts, int messages) {
  bool moved = step(parts);
  for (int more = 1; moved && more < messages && step(parts); ++more) {
  }
  while (sim::Transmission* const transmission = parts.kernel.next_finished()) {
    transmission_finished(parts, *transmission);
    moved = true;
  }
  return watch_for_losses(parts) || moved;  // protocol/peer_lost
}

}  // namespace margay::mpi_adi
