// The copies of bodies that stories tell, from a trace made by hand.
#include <doctest/doctest.h>

#include <string>

#include "sim/trace/names.hpp"
#include "sim/trace/story/copies.hpp"
#include "sim/trace/story/messages.hpp"
#include "sim/trace/story/tell.hpp"
#include "sim/trace/story/words.hpp"
#include "tests/sim/hand_made_trace.hpp"

namespace margay::sim::test {
namespace {

using made::HandMade;
using made::kMessage;
using made::kTag7;

// Whether its story says `part`.
bool tells(const Trace& trace, MessageIdentity message, const std::string& part) {
  const TraceNames names(trace);
  const Messages messages(trace);
  return tell(trace, messages, EventWords(trace, names), messages.story(message)).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("story: copies are told as the events tell them, and what these do not tell is not guessed") {
  HandMade made;
  made.add(0, TraceKind::send_begin, kMessage).bytes = 40;
  made.add(0, TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7).bytes = 40;
  made.add(1, TraceKind::kernel_match, kMessage, portals::Kind::put, 0, kTag7).b = kMpiReceiveOwner;
  TraceEvent& deposit = made.add(1, TraceKind::kernel_deposit, kMessage, portals::Kind::put, 0, kTag7);
  deposit.bytes = 40;
  TraceEvent& send = made.trace.entries[1].event;
  CHECK_FALSE(tells(made.trace, kMessage, "copied"));  // of an older version
  deposit.reason = body_told(TraceBody::cell, true);
  send.reason = body_told(TraceBody::none, true);
  CHECK(tells(made.trace, kMessage,
              "- Its body was copied twice: rank 0 copied its pieces into a cell of its ring to rank 1; rank 1 copied "
              "the cell into the pieces of the receive's memory.\n"));
  made.trace.entries[2].event.b = kMpiHeapOwner;  // and no receive came
  deposit.reason = body_told(TraceBody::ring, false);
  CHECK(tells(made.trace, kMessage, "the ring's bytes into the heap of unexpected messages.\n"));
  deposit.reason = body_told(TraceBody::epoll, false);
  deposit.a = 40;
  CHECK(tells(made.trace, kMessage,
              "- Of its body's copies some are not in the trace; known are: rank 1's recv() read it from the socket"));
  send.reason = body_told(TraceBody::uring, false);
  CHECK(tells(made.trace, kMessage, "rank 0 copied it into a batch, which io_uring wrote to the socket; "));
  deposit.bytes = 0;  // an empty message, or one whose header alone is kept
  CHECK_FALSE(tells(made.trace, kMessage, "copied"));
  deposit.reason = body_told(static_cast<TraceBody>(100), false);
  deposit.bytes = 40;  // of a later version
  CHECK_FALSE(tells(made.trace, kMessage, "Its body was copied"));
}

TEST_CASE("story: of a body that was pulled in part it is told how much was copied") {
  HandMade made = made::pulled();
  TraceEvent& deposit = made.add(1, TraceKind::kernel_deposit, made::kReply, portals::Kind::reply, 0, 2);
  deposit.bytes = 60;
  deposit.reason = body_told(TraceBody::ring_in_parts, false);
  for (auto& [event, file] : made.trace.entries) {
    if (event.kind == TraceKind::kernel_reply_sent) event.bytes = 60;
  }
  CHECK(tells(made.trace, kMessage, " (60 of its 40000 bytes; no more were asked for)"));
  made.trace.entries.back().event.bytes = 40000;
  CHECK_FALSE(tells(made.trace, kMessage, "no more were asked for"));
}

TEST_CASE("story: an access of a window tells what is copied") {
  const auto words = [](TraceAccess access, TraceWay way) {
    TraceEvent event;
    event.kind = TraceKind::window_access;
    event.source = 0;
    event.destination = 1;
    event.a = static_cast<std::uint32_t>(access);
    event.reason = static_cast<std::uint8_t>(way);
    return access_copies(event);
  };
  CHECK(words(TraceAccess::put, TraceWay::direct) == "direct: rank 0 copies it once, in memory that is mapped there");
  CHECK(words(TraceAccess::put, TraceWay::process) ==
        "rank 0 copies it once, into rank 1's memory (process_vm_writev)");
  CHECK(words(TraceAccess::get, TraceWay::process) ==
        "rank 0 copies it once, out of rank 1's memory (process_vm_readv)");
  CHECK(words(TraceAccess::put, TraceWay::message) == "by message");
  CHECK(words(TraceAccess::accumulate, TraceWay::direct) == "direct: rank 0 does it in place");
}

}  // namespace margay::sim::test
