#include "mpi_adi/protocol/post_receive.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/receive_common.hpp"
#include "mpi_adi/protocol/take_unexpected.hpp"

namespace margay::mpi_adi {

namespace {

struct PostedReceive {
  std::int64_t count;
  const Datatype& type;
  Context context;
};

[[gnu::noinline]] void watch_post(DeviceParts& parts, const ReceiveRequest& request, const PostedReceive& posted) {
  const portals::Criteria& criteria = request.entry.criteria();
  if (parts.recorder().on()) {
    trace_request(parts, sim::TraceKind::post_receive, request, request.room().bytes(), criteria.match_bits,
                  criteria.ignore_bits);
  }
  if (parts.type_check != nullptr) {
    parts.type_check->begin_receive(request, posted.type, posted.count, posted.context != Context::point_to_point);
  }
}

}  // namespace

ReceiveRequest& prepare_receive(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type,
                                Communicator& communicator) {
  ReceiveRequest& request = new_receive(parts, communicator);
  request.in_pieces = !type.dense();
  request.row[0].memory = request.pieces.to_receive(buffer, count, type);
  return request;
}

ReceiveRequest& post_receive(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type, int source, int tag,
                             Communicator& communicator, Context context) {
  ReceiveRequest& request = prepare_receive(parts, buffer, count, type, communicator);
  request.source = source;
  request.tag = tag;
  if (source != MPI_ANY_SOURCE) request.peer = communicator.world_rank(source);
  // Straight into the entry: a copy on the stack, written by words and read by more, would be waited for.
  request.entry.set_criteria(receive_criteria(source, tag, context_of(communicator, context)));
  const portals::Criteria& criteria = request.entry.criteria();
  const bool traced = parts.recorder().on();
  if (parts.recorder().watched()) [[unlikely]]
    watch_post(parts, request, {count, type, context});

  // Nothing is delivered between the search and the listing, so the entry need not be in the list, inactive, meanwhile.
  if (portals::ArrivedMessage* const message = parts.heap.find(criteria)) {
    take_unexpected(parts, request, *message);
    return request;
  }
  if (traced) [[unlikely]]
    trace_request(parts, sim::TraceKind::search_miss, request, 0, criteria.match_bits);
  list_entry(parts, request);
  request.state = ReceiveState::posted;
  if (source_lost(parts, communicator, source)) end_receive_of_lost(parts, request);
  return request;
}

}  // namespace margay::mpi_adi
