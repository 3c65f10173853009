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
[[gnu::always_inline]] inline void count_send(ProtocolCounts& counts, SendMode mode, SendShape shape,
                                              std::uint64_t bytes) {
  if (mode == SendMode::buffered) {
    add(counts.buffered, bytes);
  } else if (mode == SendMode::ready) {
    add(counts.ready, bytes);
  } else if (shape == SendShape::short_message) {
    add(mode == SendMode::synchronous ? counts.synchronous_short : counts.short_, bytes);
  }
}

template <bool Watched>
[[gnu::always_inline]] inline void dispatch(DeviceParts& parts, SendShape shape, SendRequest& request,
                                            portals::MatchBits bits) {
  switch (shape) {
    case SendShape::short_message:
      return Watched ? start_watched_short_send(parts, request, bits) : start_short_send(parts, request, bits);
    case SendShape::long_message:
      return start_long_send(parts, request, bits);
    case SendShape::rendezvous:
      return start_rendezvous_send(parts, request, bits);
    case SendShape::ready_long:
      return start_long_ready_send(parts, request, bits);
  }
}

struct StartedSend {
  SendMode mode;
  const void* buffer;
  std::int64_t count;
  const Datatype& type;
  int destination;
  int tag;
  Communicator& communicator;
  Context context;
};

// `Watched`: by a trace or the check of types. Two functions, so that the others do not pay for it.
template <bool Watched>
[[gnu::always_inline]] inline SendRequest& start(DeviceParts& parts, const StartedSend& send) {
  SendRequest& request = new_send(parts, send.communicator);
  request.peer = send.communicator.world_rank(send.destination);
  request.tag = send.tag;
  request.body = request.pieces.to_send(send.buffer, send.count, send.type);
  request.synchronous = send.mode == SendMode::synchronous;
  request.buffered = send.mode == SendMode::buffered;
  const std::uint64_t bytes = request.body.bytes();
  const portals::MatchBits bits = send_bits(send.mode, send.tag, send.communicator, send.context);
  const ProtocolChoice choice = select_protocol(parts, send.mode, bytes, request.peer);
  request.protocol = choice.protocol;
  if constexpr (Watched) {
    if (parts.recorder().on()) trace_choice(parts, choice, request.peer, bits, bytes, request.pooled.index);
    if (parts.type_check != nullptr) {
      parts.type_check->begin_send(send.type, bytes, send.context != Context::point_to_point);
    }
  }
  count_send(parts.counts, send.mode, choice.shape, bytes);
  dispatch<Watched>(parts, choice.shape, request, bits);
  return request;
}

[[gnu::noinline]] SendRequest& start_watched(DeviceParts& parts, SendMode mode, const void* buffer, std::int64_t count,
                                             const Datatype& type, int destination, int tag, Communicator& communicator,
                                             Context context) {
  return start<true>(parts, {mode, buffer, count, type, destination, tag, communicator, context});
}

}  // namespace

SendRequest& start_send(DeviceParts& parts, SendMode mode, const void* buffer, std::int64_t count, const Datatype& type,
                        int destination, int tag, Communicator& communicator, Context context) {
  if (parts.recorder().watched()) [[unlikely]]
    return start_watched(parts, mode, buffer, count, type, destination, tag, communicator, context);
  return start<false>(parts, {mode, buffer, count, type, destination, tag, communicator, context});
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
