// Tests of the copies of bodies in stories, from a hand-made trace.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

// A message of 40 bytes: its events, and the sentence about its copies.
struct Way {
  sim::TraceBody left{};       // by kernel_send; none: kernel_sent follows, and copied `copied` bytes
  sim::TraceBody deposited{};  // by kernel_deposit
  std::uint64_t copied = 0;
  std::uint32_t aside = 0;
  bool in_pieces = false;
  std::uint64_t out_of_heap = 0;  // bytes that the receive copied; 0: the receive was posted before
  sim::TraceProtocol protocol{};
  bool library_copies = false;
  unsigned copies = 0;
  const char* sentence = nullptr;
};

// `processes`: the numbers of the ranks' processes; 0: not known.
std::vector<std::string> sentences_of(const Way& way, unsigned& copies, std::array<std::uint32_t, 2> processes = {}) {
  using portals::Kind;
  HandMade made;
  for (std::size_t rank = 0; rank < processes.size(); ++rank) made.trace.files[rank].process_id = processes[rank];
  sim::TraceEvent& begin = made.add(0, sim::TraceKind::send_begin, kMessage);
  begin.bytes = 40;
  begin.protocol = way.protocol;
  begin.saved = way.library_copies ? portals::Saved::body : portals::Saved::nothing;
  sim::TraceEvent& send = made.add(0, sim::TraceKind::kernel_send, kMessage, Kind::put, 0, kTag7);
  send.bytes = 40;
  send.reason = sim::body_reason(way.left, way.in_pieces);
  if (way.left == sim::TraceBody::none) {
    sim::TraceEvent& sent = made.add(0, sim::TraceKind::kernel_sent, kMessage, Kind::put, 0, kTag7);
    sent.bytes = 40;
    sent.detail = way.copied;
    sent.reason = sim::body_reason(way.deposited, way.in_pieces);
  }
  made.add(1, sim::TraceKind::kernel_match, kMessage, Kind::put, 0, kTag7).b =
      way.out_of_heap != 0 ? mpi_adi::kOwnerHeap : mpi_adi::kOwnerReceive;
  sim::TraceEvent& deposit = made.add(1, sim::TraceKind::kernel_deposit, kMessage, Kind::put, 0, kTag7);
  deposit.bytes = 40;
  deposit.reason = sim::body_reason(way.deposited, way.in_pieces);
  deposit.a = way.aside;
  made.add(1, sim::TraceKind::receive_complete, kMessage).bytes = way.out_of_heap;
  const Messages messages(made.trace);
  const BodyCopies found = copies_of(made.trace, messages.story(kMessage));
  copies = found.count();
  return copy_sentences(found);
}

constexpr sim::TraceProtocol kShort = sim::TraceProtocol::short_send, kBuffered = sim::TraceProtocol::buffered;

TEST_CASE("story: each way of a body has its sentence about the copies") {
  using enum sim::TraceBody;
  const Way ways[] = {
      {slot, slot, 0, 0, false, 0, kShort, false, 2,
       "Its body was copied twice: rank 0 copied it into a slot of its wire to itself; rank 1 copied the slot into the "
       "receive's memory."},
      {straight, straight, 0, 0, false, 0, kShort, false, 1,
       "Its body was copied once: rank 0 copied it from the send's memory into the receive's memory."},
      {cell, cell, 0, 0, false, 20, kShort, false, 3,
       "Its body was copied three times: rank 0 copied it into a cell of its ring to rank 1; rank 1 copied the cell "
       "into the heap of unexpected messages; rank 1 copied 20 bytes of it out of the heap into the receive's memory."},
      {ring, ring, 0, 0, true, 0, kBuffered, true, 3,
       "Its body was copied three times: rank 0 copied it into the attached buffer; rank 0 copied its pieces into its "
       "byte ring to rank 1, before its header; rank 1 copied the ring's bytes into the pieces of the receive's "
       "memory."},
      {cell, cell, 0, 0, false, 0, kShort, true, 3,
       "Its body was copied three times: rank 0 copied it into memory of the library, as the receive goes to the "
       "send's buffer; rank 0 copied it into a cell of its ring to rank 1; rank 1 copied the cell into the receive's "
       "memory."},
      {none, ring_in_parts, 0, 0, false, 0, kShort, false, 2,
       "Its body was copied twice: rank 0 copied it in parts into its byte ring to rank 1; rank 1 copied these parts "
       "into the receive's memory."},
      {none, ring_instead, 0, 0, false, 0, kShort, false, 2,
       "Its body was copied twice: rank 1 could not read it out of rank 0's memory; rank 0 copied it in parts into its "
       "byte ring to rank 1; rank 1 copied these parts into the receive's memory."},
      {none, read, 0, 10, false, 0, kShort, false, 1,
       "Its body was copied once: rank 1 read it out of rank 0's memory into the receive's memory (process_vm_readv), "
       "but for 10 bytes that rank 0 wrote there (process_vm_writev)."},
      {epoll, epoll, 0, 40, false, 0, kShort, false, 2,
       "Its body was copied twice: rank 0 copied it into a batch, which send() wrote to the socket; rank 1's recv() "
       "read it from the socket into its connection's buffer; rank 1 copied it from there into the receive's memory."},
      {none, epoll, 0, 0, false, 0, kShort, false, 0,
       "Its body was copied by no process: send() wrote it to the socket from rank 0's memory; rank 1's recv() read it "
       "from the socket into the receive's memory."},
      {uring, uring_provided, 0, 40, false, 0, kShort, false, 3,
       "Its body was copied three times: rank 0 copied it into a batch, which io_uring wrote to the socket; rank 1 "
       "copied what io_uring had read into a provided buffer into its connection's buffer; rank 1 copied it from there "
       "into the receive's memory."},
      {none, uring_provided, 4, 7, false, 0, kShort, false, 0,
       "Its body was copied in part: io_uring wrote it to the socket from rank 0's memory, but for 4 bytes that were "
       "copied into batches; rank 1's io_uring read it from the socket into the receive's memory, but for 7 bytes that "
       "were read ahead, some into provided buffers first, and copied there."},
  };
  for (const Way& way : ways) {
    unsigned copies = 0;
    const std::vector<std::string> sentences = sentences_of(way, copies);
    CHECK_EQ(copies, way.copies);
    REQUIRE(sentences.size() == 1);
    CHECK_EQ(sentences.front(), way.sentence);
  }
}

TEST_CASE("story: ranks that are threads of one process copy by memcpy") {
  const Way way{.left = sim::TraceBody::none, .deposited = sim::TraceBody::read, .aside = 10, .copies = 1};
  unsigned copies = 0;
  CHECK(sentences_of(way, copies, {7, 7}) ==
        std::vector<std::string>{
            "Its body was copied once: rank 1 read it out of rank 0's memory into the receive's memory (memcpy, within "
            "their process), but for 10 bytes that rank 0 wrote there (memcpy, within their process)."});
  CHECK(sentences_of(way, copies, {7, 8}).front().find("(process_vm_readv)") != std::string::npos);
}

TEST_CASE("story: bytes that were copied with a header and pulled later were copied unnecessarily") {
  HandMade made = made::pulled();
  for (auto& [event, file] : made.trace.entries) {
    if (event.kind != sim::TraceKind::kernel_reply_sent) continue;
    event.bytes = 40000;
    break;
  }
  sim::TraceEvent& deposit = made.add(1, sim::TraceKind::kernel_deposit, made::kReply, portals::Kind::reply, 0, 2);
  deposit.bytes = 40000;
  deposit.reason = sim::body_reason(sim::TraceBody::ring_in_parts, false);
  sim::TraceEvent& sent = made.add(0, sim::TraceKind::kernel_sent, kMessage, portals::Kind::put, 0, kTag7);
  sent.bytes = 40000;
  sent.detail = 20000;
  sent.reason = sim::body_reason(sim::TraceBody::ring_in_parts, false);
  const char* const sentence =
      "- Rank 0 copied 20000 bytes of it into its byte ring unnecessarily: rank 1 discarded them.\n";
  CHECK(mentions(made.trace, kMessage, sentence));
  made.trace.entries.back().event.detail = 0;
  CHECK_FALSE(mentions(made.trace, kMessage, "unnecessarily"));
}

TEST_CASE("story: a message whose body is pulled has each of its steps") {
  const HandMade made = made::pulled();
  for (const std::string part : {"passes over a posted receive: no match, it accepts tag 8",
                                 "is taken by the entry \"unexpected long\"", "finds it among the unexpected messages",
                                 "asks the sender for the body, ", "- Its match bits: tag 7, source 0, ",
                                 "- Its body was not kept when its header came: ", "- Rank 0 sent it in MPI_Send, "}) {
    CAPTURE(part);
    CHECK(mentions(made.trace, kMessage, part));
  }
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
  HandMade made;
  const auto message_of = [&made](sim::TraceAccess access, mpi_adi::WindowMethod method) {
    sim::TraceEvent event;
    event.kind = sim::TraceKind::window_access;
    event.source = 0;
    event.destination = 1;
    event.a = static_cast<std::uint32_t>(access);
    event.reason = static_cast<std::uint8_t>(method);
    return access_copies(made.trace, event);
  };
  CHECK(message_of(sim::TraceAccess::put, mpi_adi::WindowMethod::direct) ==
        "direct: rank 0 copies it once, in memory that is mapped there");
  CHECK(message_of(sim::TraceAccess::put, mpi_adi::WindowMethod::process) ==
        "rank 0 copies it once, into rank 1's memory (process_vm_writev)");
  CHECK(message_of(sim::TraceAccess::get, mpi_adi::WindowMethod::process) ==
        "rank 0 copies it once, out of rank 1's memory (process_vm_readv)");
  for (TraceFile& file : made.trace.files) file.process_id = 7;
  CHECK(message_of(sim::TraceAccess::put, mpi_adi::WindowMethod::process) ==
        "rank 0 copies it once, into rank 1's memory (memcpy, within their process)");
  CHECK(message_of(sim::TraceAccess::put, mpi_adi::WindowMethod::message) == "by message");
  CHECK(message_of(sim::TraceAccess::accumulate, mpi_adi::WindowMethod::direct) == "direct: rank 0 does it in place");
}

}  // namespace margay::command::test
