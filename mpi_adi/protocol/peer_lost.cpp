#include "mpi_adi/protocol/peer_lost.hpp"

#include <algorithm>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

// Whether the kernel may still touch the request's memory. After a loss the kernel releases the memory without being
// asked: it returns the transmission as failed, and frees the row.
bool kernel_holds(const SendRequest& request) {
  return (request.events & kEventBodyTaken) != 0;
}
bool kernel_holds(const ReceiveRequest& request) {
  return request.row[0].state != portals::IndependentBuffer::State::available;
}

void end_send(DeviceParts& parts, SendRequest& request) {
  // No event for which the send waits can occur any more. The kernel does not refer to the body any more.
  request.error_class = MPIX_ERR_PROC_FAILED;
  request.events = 0;
  complete_if_finished(parts, request);
}

// Removes the receive from the list of claiming receives, by a linear search.
void unclaim(DeviceParts& parts, ReceiveRequest& request) {
  ReceiveRequest** at = &parts.claiming;
  while (*at != &request) {
    MARGAY_ASSERT(*at != nullptr);
    at = &(*at)->next_claiming;
  }
  *at = request.next_claiming;
}

// A receive from any source that has no message yet may get it from any member.
bool is_sender_lost(const DeviceParts& parts, const ReceiveRequest& request) {
  if (request.peer != portals::kAnyRank) return parts.kernel.initiator().is_unreachable(request.peer);
  return is_source_lost(parts, *request.communicator, MPI_ANY_SOURCE);
}

// Ends the requests of lost peers; sets `any` when a request ended. Returns false if the kernel still uses the memory
// of a request, which must then end in a later round.
bool end_requests_of_lost(DeviceParts& parts, bool& any) {
  bool all = true;
  parts.sends.for_each_in_use([&](SendRequest& request) {
    if (request.complete || !parts.kernel.initiator().is_unreachable(request.peer)) return;
    if (kernel_holds(request)) {
      all = false;
      return;
    }
    end_send(parts, request);
    any = true;
  });
  parts.receives.for_each_in_use([&](ReceiveRequest& request) {
    if (request.complete || !is_sender_lost(parts, request)) return;
    end_receive_of_lost(parts, request);
    const bool ended = request.state == ReceiveState::complete;
    any |= ended;
    all &= ended;
  });
  return all;
}

}  // namespace

bool search_lost_source(const DeviceParts& parts, const Communicator& communicator, int source) {
  if (source != MPI_ANY_SOURCE) return parts.kernel.initiator().is_unreachable(communicator.world_rank(source));
  // is_lost(), not is_unreachable(), because a departed member has sent all of its messages.
  const auto& members = communicator.peers->world_ranks;
  return std::any_of(members.begin(), members.end(),
                     [&parts](std::uint32_t rank) { return parts.kernel.initiator().is_lost(rank); });
}

bool end_requests_after_losses(DeviceParts& parts) {
  bool any = false;
  const std::uint32_t losses = parts.kernel.initiator().losses();
  // A request that the kernel still uses leaves losses_ended as it is, so each round tries again.
  if (end_requests_of_lost(parts, any)) parts.losses_ended = losses;
  notify_all(parts.on_losses);
  parts.tasks.wake_all();
  return any;
}

void end_receive_of_lost(DeviceParts& parts, ReceiveRequest& request) {
  if (kernel_holds(request)) return;
  if (request.state == ReceiveState::posted || request.state == ReceiveState::pulling) {
    MARGAY_ASSERT(*parts.posted_receives != 0);
    --*parts.posted_receives;
    parts.receive_list.remove(request.entry);
  }
  if (request.state == ReceiveState::claiming) unclaim(parts, request);
  // The reply will not arrive, but the kernel's count of owed answers must balance.
  if (request.expecting) parts.kernel.count_answer(request.peer);
  request.expecting = false;
  request.state = ReceiveState::complete;
  request.error_class = MPIX_ERR_PROC_FAILED;
  request.pieces.clear();
  complete(parts, request);
}

}  // namespace margay::mpi_adi
