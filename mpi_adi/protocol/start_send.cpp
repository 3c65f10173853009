#include "mpi_adi/protocol/start_send.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/observe.hpp"
#include "mpi_adi/protocol/select.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "mpi_adi/protocol/sends.hpp"

namespace margay::mpi_adi {

namespace {

portals::MatchBits send_bits(const CheckedSend& send) {
  return envelope_bits(send.tag, send.communicator->rank(), context_of(*send.communicator, send.context),
                       send.mode == SendMode::ready ? kReadyBit : 0);
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

}  // namespace

SendRequest& start_send(DeviceParts& parts, const CheckedSend& send) {
  SendRequest& request = new_send(parts, *send.communicator);
  request.peer = send.communicator->world_rank(send.destination);
  request.tag = send.tag;
  request.body = request.pieces.to_send(send.buffer, send.count, *send.type);
  request.synchronous = send.mode == SendMode::synchronous;
  request.buffered = send.mode == SendMode::buffered;
  const std::uint64_t bytes = request.body.bytes();
  const ProtocolChoice choice = select_protocol(parts, send.mode, bytes, request.peer);
  request.protocol = choice.protocol;
  portals::Header header = put_header(parts, request.peer, send_bits(send), bytes);
  if (parts.recorder().watched()) [[unlikely]]
    observe_send(parts, send, choice, request, header);
  count_send(parts.counts, send.mode, choice.shape, bytes);
  switch (choice.shape) {
    case SendShape::short_message:
      start_short_send(parts, request, header);
      break;
    case SendShape::long_message:
      start_long_send(parts, request, header);
      break;
    case SendShape::rendezvous:
      start_rendezvous_send(parts, request, header);
      break;
    case SendShape::ready_long:
      start_long_ready_send(parts, request, header);
      break;
  }
  return request;
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
  const bool sent = try_short_send(parts, send, peer, bits, body);
  if (!type.dense()) [[unlikely]]
    parts.scratch.clear();
  if (sent) add(send.mode == SendMode::ready ? parts.counts.ready : parts.counts.short_, bytes);
  return sent;
}

}  // namespace margay::mpi_adi
