#include "mpi_adi/progress/progress.hpp"

#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/task.hpp"
#include "mpi_adi/protocol/cancel.hpp"
#include "mpi_adi/protocol/notice.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/receive.hpp"
#include "mpi_adi/protocol/send.hpp"

namespace margay::mpi_adi {

namespace {

void descriptor_changed(DeviceParts& parts, portals::Descriptor& descriptor) {
  void* const owner = descriptor.owner();
  if (descriptor.owner_kind() == kOwnerReceive) [[likely]]
    return message_came(parts, *static_cast<ReceiveRequest*>(owner));  // protocol/receive
  switch (descriptor.owner_kind()) {
    case kOwnerHeap:
      return heap_changed(parts);  // protocol/take_unexpected
    case kOwnerAcknowledgment:
      return answers_came(parts, *static_cast<SendRequest*>(owner));  // protocol/send
    case kOwnerRead:
      return body_read(parts, *static_cast<SendRequest*>(owner));
    case kOwnerCancel:
      return cancels_asked(parts);  // protocol/cancel
    case kOwnerListener:
      return static_cast<Listener*>(owner)->told();
    case kOwnerTask:
      return static_cast<Task*>(owner)->wake();
    default:
      return;  // collectives that block look at their descriptors themselves
  }
}

void transmission_finished(DeviceParts& parts, sim::Transmission& transmission) {
  switch (transmission.owner_kind) {
    case kOwnerSend:
      return body_taken(parts, *static_cast<SendRequest*>(transmission.owner));  // protocol/send
    case kOwnerNotice:
      return notice_finished(parts, *static_cast<Notice*>(transmission.owner));  // protocol/notice
    case kOwnerListener:
      return static_cast<Listener*>(transmission.owner)->told();
    case kOwnerTask:
      return static_cast<Task*>(transmission.owner)->wake();
    default:
      return;  // whoever sent it looks at its state
  }
}

}  // namespace

bool progress(DeviceParts& parts, int messages) {
  portals::ChangedList& changed = parts.kernel.changed();
  // What a message changed is looked at before the next one is walked.
  const auto look_at_changed = [&] {
    while (portals::Descriptor* const descriptor = changed.take()) descriptor_changed(parts, *descriptor);
  };
  bool moved = parts.kernel.progress(messages, look_at_changed);  // sim/kernel: wires, match, deposit, answer
  // What push(), or a call of the program, changed.
  moved |= !changed.empty();
  look_at_changed();
  while (sim::Transmission* const transmission = parts.kernel.next_finished()) {
    transmission_finished(parts, *transmission);
    moved = true;
  }
  if (!parts.each_round.empty()) [[unlikely]] {
    // One that is told may take itself off.
    for (std::size_t at = parts.each_round.size(); at-- > 0;) parts.each_round[at]->told();
  }
  return watch_for_losses(parts) || moved;  // protocol/peer_lost
}

}  // namespace margay::mpi_adi
