// Hand-made traces, for tests of readers of traces.
#pragma once

#include <cstdint>

#include "command/trace/read/filter.hpp"
#include "command/trace/read/reader.hpp"
#include "portals/base/verdict.hpp"

namespace margay::command::test::made {

inline constexpr std::uint64_t kTag7 = std::uint64_t{7} << 32U;
inline constexpr std::uint64_t kLong = 4;
inline constexpr std::uint32_t kRequest = 3;
inline constexpr std::uint32_t kType = 0x4c000405;

// Each event is a microsecond later than the one before.
class HandMade {
 public:
  HandMade() {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      TraceFile& file = trace.files.emplace_back();
      file.rank = rank;
      file.size = 2;
      file.closed = true;
      file.names = {"MPI_Send", "MPI_Recv"};
      file.definitions = {
          {sim::DefinitionKind::communicator, 0, 0, std::uint64_t{2} << 32U | rank, "MPI_COMM_WORLD"},
          {sim::DefinitionKind::datatype, 0, kType, 4, "MPI_INT"},
          {sim::DefinitionKind::portal, 0, 0, 0, "receives"},
          {sim::DefinitionKind::portal, 0, 3, sim::kInternalPortal | sim::kCollectivePortal, "collective trees"},
          {sim::DefinitionKind::owner, 0, 1, 0, "a posted receive"},
          {sim::DefinitionKind::owner, 0, 2, 0, "the heap of unexpected messages"},
          {sim::DefinitionKind::entry, 0, sim::entry_number(0, 99), 0, "unexpected long"},
      };
    }
  }
  sim::TraceEvent& add(std::uint32_t rank, sim::TraceKind kind, MessageIdentity message = {}) {
    sim::TraceEvent event;
    event.time = 1000 * (trace.entries.size() + 1);
    event.kind = kind;
    event.source = message.source;
    event.destination = message.destination;
    event.sequence = message.sequence;
    trace.entries.push_back({event, rank});
    return trace.entries.back().event;
  }
  // The same, with a header.
  sim::TraceEvent& add(std::uint32_t rank, sim::TraceKind kind, MessageIdentity message, portals::Kind header,
                       portals::PortalIndex portal, std::uint64_t bits) {
    sim::TraceEvent& event = add(rank, kind, message);
    event.header = static_cast<std::uint8_t>(header);
    event.portal = portal;
    event.match_bits = bits;
    event.wire = 1;
    return event;
  }

  Trace trace;
};

inline constexpr MessageIdentity kMessage{0, 1, 5};
inline constexpr MessageIdentity kAcknowledgment{1, 0, 1};
inline constexpr MessageIdentity kGet{1, 0, 2};
inline constexpr MessageIdentity kReply{0, 1, 6};

// A long message that arrives before its receive, and whose body is pulled.
inline HandMade pulled() {
  using portals::Kind;
  HandMade made;
  made.add(0, sim::TraceKind::mpi_enter).a = 0;
  sim::TraceEvent& begin = made.add(0, sim::TraceKind::send_begin, kMessage);
  begin.protocol = sim::TraceProtocol::long_send;
  begin.reason = static_cast<std::uint8_t>(sim::TraceChoice::above_short);
  begin.match_bits = kTag7;
  begin.bytes = 40000;
  begin.b = kType;
  made.add(0, sim::TraceKind::kernel_send, kMessage, Kind::put, 0, kTag7 | kLong).bytes = 40000;
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, Kind::put, 0, kTag7 | kLong).bytes = 40000;
  sim::TraceEvent& pass = made.add(1, sim::TraceKind::kernel_pass, kMessage, Kind::put, 0, std::uint64_t{8} << 32U);
  pass.reason = static_cast<std::uint8_t>(portals::Passed::no_match);
  pass.bytes = 5;
  pass.a = 1U << 16U;
  pass.detail = 7;
  pass.b = portals::kAnyRank;
  sim::TraceEvent& match = made.add(1, sim::TraceKind::kernel_match, kMessage, Kind::put, 0, kTag7 | kLong);
  match.detail = 99;
  match.a = 2;
  match.b = 2;
  match.saved = portals::Saved::header;
  match.bytes = 40000;
  made.add(1, sim::TraceKind::kernel_deposit, kMessage, Kind::put, 0, kTag7 | kLong).saved = portals::Saved::header;
  made.add(1, sim::TraceKind::kernel_ack_sent, kAcknowledgment, Kind::acknowledgment, 1, 1).detail = kMessage.sequence;
  made.add(0, sim::TraceKind::kernel_ack_arrived, kAcknowledgment, Kind::acknowledgment, 1, 1).detail =
      kMessage.sequence;
  made.add(1, sim::TraceKind::mpi_enter).a = 1;
  sim::TraceEvent& post = made.add(1, sim::TraceKind::post_receive, {portals::kAnyRank, 1, 0});
  post.a = kRequest;
  post.b = kType;
  post.bytes = 40000;
  post.match_bits = kTag7;
  post.detail = 0xffff'0000 | 5;
  made.add(1, sim::TraceKind::search_hit, kMessage).a = kRequest;
  sim::TraceEvent& pull = made.add(1, sim::TraceKind::pull_begin, kMessage);
  pull.a = kRequest;
  pull.detail = kGet.sequence;
  made.add(1, sim::TraceKind::kernel_send, kGet, Kind::get, 2, 1);
  made.add(0, sim::TraceKind::kernel_get_arrived, kGet, Kind::get, 2, 1);
  made.add(0, sim::TraceKind::kernel_reply_sent, kReply, Kind::reply, 0, 2).detail = kGet.sequence;
  made.add(1, sim::TraceKind::kernel_arrive, kReply, Kind::reply, 0, 2).detail = kGet.sequence;
  made.add(1, sim::TraceKind::pull_complete, kMessage).a = kRequest;
  sim::TraceEvent& received = made.add(1, sim::TraceKind::receive_complete, kMessage);
  received.a = kRequest;
  received.bytes = 40000;
  made.add(1, sim::TraceKind::mpi_leave).a = 1;
  made.add(0, sim::TraceKind::request_complete, kMessage);
  made.add(0, sim::TraceKind::mpi_leave).a = 0;
  return made;
}

// A message with only its arrival recorded, on a communicator that has different names on its two sides.
inline HandMade renamed_communicator() {
  HandMade made;
  for (const std::uint32_t rank : {0U, 1U}) {
    made.trace.files[rank].definitions.push_back({sim::DefinitionKind::communicator, 0, 4, std::uint64_t{2} << 32U,
                                                  rank == 0 ? "the sender's" : "the receiver's"});
  }
  made.add(1, sim::TraceKind::kernel_arrive, kMessage, portals::Kind::put, 0, kTag7 | std::uint64_t{4} << 3U);
  return made;
}

}  // namespace margay::command::test::made
