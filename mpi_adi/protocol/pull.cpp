// Pulling a body that the kernel did not save (figure 5): "the match bits are changed to accept a pulled message, and a
// message is sent to the sender to pull the data across." Figure 7: the extra answer of synchronous ones comes after
// it.
#include <algorithm>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/notice.hpp"
#include "mpi_adi/protocol/receive_common.hpp"
#include "mpi_adi/protocol/receives.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

void start_pull(DeviceParts& parts, ReceiveRequest& request, const portals::Header& asked) {
  MARGAY_ASSERT(!request.entry.listed() && !request.expecting);
  request.state = ReceiveState::pulling;
  portals::Criteria criteria;
  criteria.match_bits = reply_bits(request.pooled.index, request.pooled.generation);
  criteria.source_rank = request.peer;
  request.entry.set_criteria(criteria);
  list_entry(parts, request);

  portals::Header get;
  get.kind = portals::Kind::get;
  get.portal = kReadPortal;
  get.destination = asked.source;
  get.match_bits = request.answer_bits;
  get.return_portal = kReceivePortal;
  get.return_match_bits = criteria.match_bits;
  get.return_length = std::min(message_bytes(asked), request.room().bytes());
  if (parts.recorder().on()) {
    trace_request(parts, sim::TraceKind::pull_begin, request, get.return_length, get.match_bits,
                  parts.kernel.registers().sent(request.peer) + 1);
  }
  parts.kernel.expect_answer(request.peer);
  request.expecting = true;
  send_notice(parts, get);
}

void pull_came(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes) {
  MARGAY_ASSERT(request.expecting && request.state == ReceiveState::pulling);
  parts.kernel.answered(request.peer);
  request.expecting = false;
  if (parts.recorder().on()) trace_request(parts, sim::TraceKind::pull_complete, request, bytes);
  complete_receive(parts, request, bytes);
}

}  // namespace margay::mpi_adi
