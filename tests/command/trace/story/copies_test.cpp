// Tests of the copies of bodies in stories, from a hand-made trace.
#include <doctest/doctest.h>

#include <string>

#include "command/trace/names/names.hpp"
#include "command/trace/story/copies.hpp"
#include "command/trace/story/event_text.hpp"
#include "command/trace/story/format.hpp"
#include "command/trace/story/messages.hpp"
#include "tests/command/hand_made_trace.hpp"

namespace margay::command::test {
namespace {

using made::HandMade;
using made::kMessage;
using made::kTag7;

// Whether the message's story contains `part`.
bool mentions(const Trace& trace, MessageIdentity message, const std::string& part) {
  const TraceNames names(trace);
  const Messages messages(trace);
  return format_story(trace, messages, EventText(trace, names), messages.story(message)).find(part) !=
         std::string::npos;
}

}  // namespace

TEST_CASE("story: copies are listed as the events record them, and missing data is not guessed") {
  HandMade made;
  made.add(0, sim::TraceKind::send_begin, kMessage).bytes = 40;
  made.add(0, sim::TraceKind::kernel_send, kMessage, portals::Kind::put, 0, kTag7).bytes = 40;
  made.add(1, sim::TraceKind::kernel_match, kMessage, portals::Kind::put, 0, kTag7).b = mpi_adi::kOwnerReceive;
  sim::TraceEvent& deposit = made.add(1, sim::TraceKind::kernel_deposit, kMessage, portals::Kind::put, 0, kTag7);
  deposit.bytes = 40;
  sim::TraceEvent& send = made.trace.entries[1].event;
  CHECK_FALSE(mentions(made.trace, kMessage, "copied"));  // of an older version
  deposit.reason = sim::body_reason(sim::TraceBody::cell, true);
  send.reason = sim::body_reason(sim::TraceBody::none, true);
  CHECK(
      mentions(made.trace, kMessage,
               "- Its body was copied twice: rank 0 copied its pieces into a cell of its ring to rank 1; rank 1 copied "
               "the cell into the pieces of the receive's memory.\n"));
  made.trace.entries[2].event.b = mpi_adi::kOwnerHeap;  // and there is no receive
  deposit.reason = sim::body_reason(sim::TraceBody::ring, false);
  CHECK(mentions(made.trace, kMessage, "the ring's bytes into the heap of unexpected messages.\n"));
  deposit.reason = sim::body_reason(sim::TraceBody::epoll, false);
  deposit.a = 40;
  CHECK(
      mentions(made.trace, kMessage,
               "- Of its body's copies some are not in the trace; known are: rank 1's recv() read it from the socket"));
  send.reason = sim::body_reason(sim::TraceBody::uring, false);
  CHECK(mentions(made.trace, kMessage, "rank 0 copied it into a batch, which io_uring wrote to the socket; "));
  deposit.bytes = 0;  // an empty message, or one whose header alone is kept
  CHECK_FALSE(mentions(made.trace, kMessage, "copied"));
  deposit.reason = sim::body_reason(static_cast<sim::TraceBody>(100), false);
  deposit.bytes = 40;  // of a later version
  CHECK_FALSE(mentions(made.trace, kMessage, "Its body was copied"));
}

TEST_CASE("story: for a body that was pulled in part it shows how much was copied") {
  HandMade made = made::pulled();
  sim::TraceEvent& deposit = made.add(1, sim::TraceKind::kernel_deposit, made::kReply, portals::Kind::reply, 0, 2);
  deposit.bytes = 60;
  deposit.reason = sim::body_reason(sim::TraceBody::ring_in_parts, false);
  for (auto& [event, file] : made.trace.entries) {
    if (event.kind == sim::TraceKind::kernel_reply_sent) event.bytes = 60;
  }
  CHECK(mentions(made.trace, kMessage, " (60 of its 40000 bytes; no more were asked for)"));
  made.trace.entries.back().event.bytes = 40000;
  CHECK_FALSE(mentions(made.trace, kMessage, "no more were asked for"));
}

TEST_CASE("story: an access of a window shows the copied bytes") {
  const auto words = [](sim::TraceAccess access, mpi_adi::WindowMethod method) {
    sim::TraceEvent event;
    event.kind = sim::TraceKind::window_access;
    event.source = 0;
    event.destination = 1;
    event.a = static_cast<std::uint32_t>(access);
    event.reason = static_cast<std::uint8_t>(method);
    return access_copies(event);
  };
  CHECK(words(sim::TraceAccess::put, mpi_adi::WindowMethod::direct) ==
        "direct: rank 0 copies it once, in memory that is mapped there");
  CHECK(words(sim::TraceAccess::put, mpi_adi::WindowMethod::process) ==
        "rank 0 copies it once, into rank 1's memory (process_vm_writev)");
  CHECK(words(sim::TraceAccess::get, mpi_adi::WindowMethod::process) ==
        "rank 0 copies it once, out of rank 1's memory (process_vm_readv)");
  CHECK(words(sim::TraceAccess::put, mpi_adi::WindowMethod::message) == "by message");
  CHECK(words(sim::TraceAccess::accumulate, mpi_adi::WindowMethod::direct) == "direct: rank 0 does it in place");
}

}  // namespace margay::command::test
