#include "mpi_adi/protocol/start_send.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/select.hpp"
#include "mpi_adi/protocol/sends.hpp"

namespace margay::mpi_adi {

namespace {

portals::MatchBits send_bits(const CheckedSend& send) {
  return envelope_bits(send.tag, send.communicator->rank(), context_of(*send.communicator, send.context),
                       send.mode == SendMode::ready ? kReadyBit : 0);
}

// Of one send, for its send_begin. `stamp`: when it began.
struct BegunSend {
  std::uint32_t peer = 0;
  std::uint64_t sequence = 0;
  portals::MatchBits bits = 0;
  std::uint64_t bytes = 0;
  std::uint32_t request = 0;
  std::uint64_t stamp = 0;
};
[[gnu::noinline]] void trace_choice(DeviceParts& parts, const ProtocolChoice& choice, const CheckedSend& send,
                                    const BegunSend& begun) {
  sim::TraceEvent event;
  event.kind = sim::TraceKind::send_begin;
  event.protocol = choice.protocol;
  event.reason = static_cast<std::uint8_t>(choice.reason);
  event.source = parts.kernel.me().rank;
  event.destination = begun.peer;
  event.sequence = begun.sequence;
  event.match_bits = begun.bits;
  event.bytes = begun.bytes;
  event.detail = static_cast<std::uint64_t>(send.told().count);
  event.a = begun.request;
  if (send.copied_from != nullptr && begun.bytes != 0) event.saved = portals::Saved::body;
  define_in_trace(parts.recorder(), *send.communicator, begun.stamp);
  event.b = define_in_trace(parts.recorder(), *send.told().type, begun.stamp);
  parts.recorder().record(event, begun.stamp);
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

// `Watched`: by a trace or the check of types. Two functions, so that the others do not pay for it.
template <bool Watched>
[[gnu::always_inline]] inline SendRequest& start(DeviceParts& parts, const CheckedSend& send) {
  SendRequest& request = new_send(parts, *send.communicator);
  request.peer = send.communicator->world_rank(send.destination);
  request.tag = send.tag;
  request.body = request.pieces.to_send(send.buffer, send.count, *send.type);
  request.synchronous = send.mode == SendMode::synchronous;
  request.buffered = send.mode == SendMode::buffered;
  const std::uint64_t bytes = request.body.bytes();
  const portals::MatchBits bits = send_bits(send);
  const ProtocolChoice choice = select_protocol(parts, send.mode, bytes, request.peer);
  request.protocol = choice.protocol;
  if constexpr (Watched) {
    if (parts.recorder().on()) {
      request.sequence = parts.kernel.registers().sent(request.peer) + 1;
      trace_choice(parts, choice, send,
                   {request.peer, request.sequence, bits, bytes, request.pooled.index, parts.recorder().stamp()});
    }
    if (parts.type_check != nullptr) {
      parts.type_check->begin_send(*send.told().type, bytes, send.context != Context::point_to_point);
    }
  }
  count_send(parts.counts, send.mode, choice.shape, bytes);
  dispatch<Watched>(parts, choice.shape, request, bits);
  return request;
}

[[gnu::noinline]] SendRequest& start_watched(DeviceParts& parts, const CheckedSend& send) {
  return start<true>(parts, send);
}

// try_short_send(), told to the trace and the check of types. What does not go at once is told where it begins again.
[[gnu::noinline]] bool try_watched(DeviceParts& parts, const CheckedSend& send, std::uint32_t peer,
                                   portals::MatchBits bits, const portals::Region& body) {
  sim::Recorder& recorder = parts.recorder();
  if (parts.type_check != nullptr) {
    parts.type_check->begin_send(*send.told().type, body.bytes(), send.context != Context::point_to_point);
  }
  const std::uint64_t stamp = recorder.on() ? recorder.stamp() : 0;
  if (!try_marked_short_send(parts, peer, bits, body)) return false;
  if (recorder.on()) {
    const ProtocolChoice choice = select_protocol(parts, send.mode, body.bytes(), peer);
    trace_choice(parts, choice, send,
                 {peer, parts.kernel.registers().sent(peer), bits, body.bytes(), sim::kTraceNoRequest, stamp});
  }
  return true;
}

}  // namespace

SendRequest& start_send(DeviceParts& parts, const CheckedSend& send) {
  if (parts.recorder().watched()) [[unlikely]]
    return start_watched(parts, send);
  return start<false>(parts, send);
}

bool send_now(DeviceParts& parts, const CheckedSend& send) {
  if (send.mode != SendMode::standard && send.mode != SendMode::ready) return false;
  const std::uint32_t peer = send.communicator->world_rank(send.destination);
  const Datatype& type = *send.type;
  const std::uint64_t bytes = static_cast<std::uint64_t>(send.count) * type.size;
  // The least limit first: most messages need not ask which wire they take.
  if (bytes > parts.short_limit_least && bytes > parts.short_limit(peer)) return false;
  const portals::MatchBits bits = send_bits(send);
  const portals::Region& body = parts.scratch.to_send(send.buffer, send.count, type);
  const bool sent =
      parts.recorder().watched() ? try_watched(parts, send, peer, bits, body) : try_short_send(parts, peer, bits, body);
  if (!type.dense()) [[unlikely]]
    parts.scratch.clear();
  if (sent) add(send.mode == SendMode::ready ? parts.counts.ready : parts.counts.short_, bytes);
  return sent;
}

}  // namespace margay::mpi_adi
