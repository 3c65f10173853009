#include "mpi_adi/protocol/post_receive.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/receive_common.hpp"
#include "mpi_adi/protocol/take_unexpected.hpp"

namespace margay::mpi_adi {

ReceiveRequest& prepare_receive(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type,
                                Communicator& communicator) {
  ReceiveRequest& request = new_receive(parts, communicator);
  request.in_pieces = !type.dense();
  request.row[0].memory = request.pieces.to_receive(buffer, count, type);
  return request;
}

namespace {

struct PostedReceive {
  void* buffer;
  std::int64_t count;
  Datatype& type;
  int source;
  int tag;
  Communicator& communicator;
  Context context;
};

void watch_post(DeviceParts& parts, const ReceiveRequest& request, const PostedReceive& posted) {
  const portals::Criteria& criteria = request.entry.criteria();
  if (parts.recorder().on()) {
    trace_request(parts, sim::TraceKind::post_receive, request, request.room().bytes(), criteria.match_bits,
                  criteria.ignore_bits);
  }
  if (parts.type_check != nullptr) {
    parts.type_check->begin_receive(request, posted.type, posted.count, posted.context != Context::point_to_point);
  }
}

// `Watched`: by a trace or the check of types. Two functions, so that the others do not pay for it.
template <bool Watched>
[[gnu::always_inline]] inline ReceiveRequest& post(DeviceParts& parts, const PostedReceive& posted) {
  ReceiveRequest& request = prepare_receive(parts, posted.buffer, posted.count, posted.type, posted.communicator);
  request.source = posted.source;
  request.tag = posted.tag;
  if (posted.source != MPI_ANY_SOURCE) request.peer = posted.communicator.world_rank(posted.source);
  // Straight into the entry: a copy from the stack would be a store-forwarding stall.
  request.entry.set_criteria(
      receive_criteria(posted.source, posted.tag, context_of(posted.communicator, posted.context)));
  const portals::Criteria& criteria = request.entry.criteria();
  if constexpr (Watched) watch_post(parts, request, posted);

  // Nothing is delivered between the search and the listing, so the entry need not be in the list, inactive, meanwhile.
  if (portals::ArrivedMessage* const message = parts.heap.find(criteria)) {
    take_unexpected(parts, request, *message);
    return request;
  }
  if constexpr (Watched) {
    if (parts.recorder().on()) trace_request(parts, sim::TraceKind::search_miss, request, 0, criteria.match_bits);
  }
  list_entry(parts, request);
  request.state = ReceiveState::posted;
  if (source_lost(parts, posted.communicator, posted.source)) end_receive_of_lost(parts, request);
  return request;
}

[[gnu::noinline]] ReceiveRequest& post_watched(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type,
                                               int source, int tag, Communicator& communicator, Context context) {
  return post<true>(parts, {buffer, count, type, source, tag, communicator, context});
}

}  // namespace

ReceiveRequest& post_receive(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type, int source, int tag,
                             Communicator& communicator, Context context) {
  if (parts.recorder().watched()) [[unlikely]]
    return post_watched(parts, buffer, count, type, source, tag, communicator, context);
  return post<false>(parts, {buffer, count, type, source, tag, communicator, context});
}

}  // namespace margay::mpi_adi
