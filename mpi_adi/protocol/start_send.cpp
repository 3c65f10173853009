#include "mpi_adi/protocol/start_send.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/long_send.hpp"
#include "mpi_adi/protocol/ready_send.hpp"
#include "mpi_adi/protocol/rendezvous_send.hpp"
#include "mpi_adi/protocol/select.hpp"
#include "mpi_adi/protocol/short_send.hpp"

namespace margay::mpi_adi {

namespace {

portals::MatchBits send_bits(SendMode mode, int tag, const Communicator& communicator, Context context) {
  return envelope_bits(tag, communicator.rank(), context_of(communicator, context),
                       mode == SendMode::ready ? kReadyBit : 0);
}

[[gnu::noinline]] void trace_choice(DeviceParts& parts, const ProtocolChoice& choice, std::uint32_t peer,
                                    portals::MatchBits bits, std::uint64_t bytes, std::uint32_t request) {
  sim::TraceEvent event;
  event.kind = sim::TraceKind::send_begin;
  event.protocol = choice.protocol;
  event.reason = static_cast<std::uint8_t>(choice.reason);
  event.source = parts.kernel.me().rank;
  event.destination = peer;
  event.sequence = parts.kernel.registers().sent(peer) + 1;
  event.match_bits = bits;
  event.bytes = bytes;
  event.a = request;
  parts.recorder().record(event);
}

void add(ProtocolCounts::Count& count, std::uint64_t bytes) {
  ++count.messages;
  count.bytes += bytes;
}

// Long messages are counted when it is known how they went.
void count_send(ProtocolCounts& counts, SendMode mode, SendShape shape, std::uint64_t bytes) {
  if (mode == SendMode::buffered) {
    add(counts.buffered, bytes);
  } else if (mode == SendMode::ready) {
    add(counts.ready, bytes);
  } else if (shape == SendShape::short_message) {
    add(mode == SendMode::synchronous ? counts.synchronous_short : counts.short_, bytes);
  }
}

void dispatch(DeviceParts& parts, SendShape shape, SendRequest& request, portals::MatchBits bits) {
  switch (shape) {
    case SendShape::short_message:
      return start_short_send(parts, request, bits);
    case SendShape::long_message:
      return start_long_send(parts, request, bits);
    case SendShape::rendezvous:
      return start_rendezvous_send(parts, request, bits);
    case SendShape::ready_long:
      return start_long_ready_send(parts, request, bits);
  }
}

struct WatchedSend {
  SendMode mode;
  const ProtocolChoice& choice;
  portals::MatchBits bits;
  const Datatype& type;
  Context context;
};

// The rest of a send when somebody looks on: apart, so that the others do not pay for it.
[[gnu::noinline]] SendRequest& start_watched_send(DeviceParts& parts, SendRequest& request, const WatchedSend& send) {
  const std::uint64_t bytes = request.body.bytes();
  if (parts.recorder().on()) {
    trace_choice(parts, send.choice, request.peer, send.bits, bytes, request.pooled.index);
  }
  if (parts.type_check != nullptr) {
    parts.type_check->begin_send(send.type, bytes, send.context != Context::point_to_point);
  }
  count_send(parts.counts, send.mode, send.choice.shape, bytes);
  if (send.choice.shape == SendShape::short_message) {
    start_watched_short_send(parts, request, send.bits);
  } else {
    dispatch(parts, send.choice.shape, request, send.bits);
  }
  return request;
}

}  // namespace

SendRequest& start_send(DeviceParts& parts, SendMode mode, const void* buffer, std::int64_t count, const Datatype& type,
                        int destination, int tag, Communicator& communicator, Context context) {
  SendRequest& request = new_send(parts, communicator);
  request.peer = communicator.world_rank(destination);
  request.tag = tag;
  request.body = request.pieces.to_send(buffer, count, type);
  request.synchronous = mode == SendMode::synchronous;
  request.buffered = mode == SendMode::buffered;
  const std::uint64_t bytes = request.body.bytes();
  const portals::MatchBits bits = send_bits(mode, tag, communicator, context);
  const ProtocolChoice choice = select_protocol(parts, mode, bytes, request.peer);
  request.protocol = choice.protocol;
  if (parts.recorder().watched()) [[unlikely]]
    return start_watched_send(parts, request, {mode, choice, bits, type, context});
  count_send(parts.counts, mode, choice.shape, bytes);
  dispatch(parts, choice.shape, request, bits);
  return request;
}

bool send_now(DeviceParts& parts, SendMode mode, const void* buffer, std::int64_t count, const Datatype& type,
              int destination, int tag, const Communicator& communicator, Context context) {
  if (mode != SendMode::standard && mode != SendMode::ready) return false;
  if (parts.recorder().watched()) return false;  // so that a trace tells of a request for each message
  const std::uint32_t peer = communicator.world_rank(destination);
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * type.size;
  // The least limit first: most messages need not ask which wire they take.
  if (bytes > parts.short_limit_least && bytes > parts.short_limit(peer)) return false;
  const portals::MatchBits bits = send_bits(mode, tag, communicator, context);
  if (!try_short_send(parts, peer, bits, parts.scratch.to_send(buffer, count, type))) return false;
  add(mode == SendMode::ready ? parts.counts.ready : parts.counts.short_, bytes);
  return true;
}

}  // namespace margay::mpi_adi
