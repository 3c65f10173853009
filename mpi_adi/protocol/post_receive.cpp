#include "mpi_adi/protocol/post_receive.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/posting_gap.hpp"
#include "mpi_adi/protocol/receive_common.hpp"
#include "mpi_adi/protocol/receives.hpp"

namespace margay::mpi_adi {

ReceiveRequest& prepare_receive(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type,
                                Communicator& communicator) {
  ReceiveRequest& request = new_receive(parts, communicator);
  request.in_pieces = !type.dense();
  request.row[0].memory = request.pieces.to_receive(buffer, count, type);
  return request;
}

namespace {

void watch_post(DeviceParts& parts, const ReceiveRequest& request, const CheckedReceive& receive, Datatype& told) {
  const portals::Criteria& criteria = request.entry.criteria();
  if (parts.recorder().on()) {
    define_in_trace(parts.recorder(), *receive.communicator);
    trace_request(parts, sim::TraceKind::post_receive, request, request.room().bytes(), criteria.match_bits,
                  criteria.ignore_bits, define_in_trace(parts.recorder(), told));
  }
  if (parts.type_check != nullptr) {
    parts.type_check->begin_receive(request, *receive.type, receive.count, receive.context != Context::point_to_point);
  }
}

// `Watched`: by a trace or the check of types. Two functions, so that the others do not pay for it.
template <bool Watched>
[[gnu::always_inline]] inline ReceiveRequest& post(DeviceParts& parts, const CheckedReceive& receive, Datatype& told) {
  ReceiveRequest& request = prepare_receive(parts, receive.buffer, receive.count, *receive.type, *receive.communicator);
  request.source = receive.source;
  request.tag = receive.tag;
  if (receive.source != MPI_ANY_SOURCE) request.peer = receive.communicator->world_rank(receive.source);
  // Straight into the entry: a copy from the stack would be a store-forwarding stall.
  request.entry.set_criteria(
      receive_criteria(receive.source, receive.tag, context_of(*receive.communicator, receive.context)));
  const portals::Criteria& criteria = request.entry.criteria();
  if constexpr (Watched) watch_post(parts, request, receive, told);

  // Nothing is delivered between the search and the listing, so the entry need not be in the list, inactive, meanwhile.
  if (portals::ArrivedMessage* const message = parts.heap.find(criteria)) {
    take_unexpected(parts, request, *message);
    return request;
  }
  if constexpr (Watched) {
    if (parts.recorder().on()) trace_request(parts, sim::TraceKind::search_miss, request, 0, criteria.match_bits);
  }
  posting_gap(parts, receive);  // empty, but in a lab
  list_entry(parts, request);
  request.state = ReceiveState::posted;
  if (source_lost(parts, *receive.communicator, receive.source)) end_receive_of_lost(parts, request);
  return request;
}

[[gnu::noinline]] ReceiveRequest& post_watched(DeviceParts& parts, const CheckedReceive& receive, Datatype& told) {
  return post<true>(parts, receive, told);
}

}  // namespace

ReceiveRequest& post_receive(DeviceParts& parts, const CheckedReceive& receive) {
  if (parts.recorder().watched()) [[unlikely]]
    return post_watched(parts, receive, *receive.type);
  return post<false>(parts, receive, *receive.type);
}

ReceiveRequest& post_receive_of(DeviceParts& parts, const CheckedReceive& receive, Datatype& told) {
  if (parts.recorder().watched()) return post_watched(parts, receive, told);
  return post<false>(parts, receive, told);
}

}  // namespace margay::mpi_adi
