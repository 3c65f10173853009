#include "mpi_adi/progress/progress.hpp"

#include "mpi_adi/device/listener.hpp"
#include "mpi_adi/device/task.hpp"
#include "mpi_adi/protocol/cancel.hpp"
#include "mpi_adi/protocol/header_message.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/receive.hpp"
#include "mpi_adi/protocol/send.hpp"

namespace margay::mpi_adi {

namespace {

// Dispatches a changed descriptor to the protocol step of its owner.
void descriptor_changed(DeviceParts& parts, portals::Descriptor& descriptor) {
  void* const owner = descriptor.owner();
  // Tested first, because in most programs most changes are arrived messages.
  if (descriptor.owner_tag_kind() == kOwnerReceive) [[likely]]
    return handle_message(parts, *static_cast<ReceiveRequest*>(owner));  // protocol/receive
  switch (descriptor.owner_tag_kind()) {
    case kOwnerHeap:
      return complete_claims(parts);  // protocol/take_unexpected
    case kOwnerAcknowledgment:
      return take_answers(parts, *static_cast<SendRequest*>(owner));  // protocol/send
    case kOwnerRead:
      return take_pull(parts, *static_cast<SendRequest*>(owner));
    case kOwnerCancel:
      return answer_cancels(parts);  // protocol/cancel
    case kOwnerListener:
      return static_cast<Listener*>(owner)->notify();
    case kOwnerTask:
      return static_cast<Task*>(owner)->wake();
    default:
      return;  // blocking collectives test their descriptors themselves
  }
}

// Dispatches a finished transmission by the tag of its owner.
void transmission_finished(DeviceParts& parts, sim::Transmission& transmission) {
  switch (transmission.owner_tag_kind) {
    case kOwnerSend:
      return end_transmission(parts, *static_cast<SendRequest*>(transmission.owner));  // protocol/send
    case kOwnerHeaderMessage:
      return header_message_finished(parts,
                                     *static_cast<HeaderMessage*>(transmission.owner));  // protocol/header_message
    case kOwnerListener:
      return static_cast<Listener*>(transmission.owner)->notify();
    case kOwnerTask:
      return static_cast<Task*>(transmission.owner)->wake();
    default:
      return;  // the sender tests its state
  }
}

}  // namespace

bool progress(DeviceParts& parts, int messages) {
  portals::ChangedList& changed = parts.kernel.changed();
  // Called after each message, so that the step a message causes has run before the next one is matched.
  const auto look_at_changed = [&] {
    while (portals::Descriptor* const descriptor = changed.take()) descriptor_changed(parts, *descriptor);
  };
  bool moved = parts.kernel.progress(messages, look_at_changed);  // sim/kernel: wires, match, deposit, answer
  // Changes that no arrival has reported: those by a wire's push() in this round, and those by a call of the program
  // before this round.
  moved |= !changed.empty();
  look_at_changed();
  while (sim::Transmission* const transmission = parts.kernel.next_finished()) {
    transmission_finished(parts, *transmission);
    moved = true;
  }
  if (!parts.each_round.empty()) [[unlikely]]
    notify_all(parts.each_round);
  // Losses are handled last, so that messages that arrived before the loss complete their requests first.
  return handle_new_losses(parts) || moved;  // protocol/peer_lost
}

}  // namespace margay::mpi_adi
