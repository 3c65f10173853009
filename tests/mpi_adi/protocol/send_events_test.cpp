#include "mpi_adi/protocol/send.hpp"

#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

constexpr unsigned kEventAll = kEventBodyTaken | kEventAcknowledgment | kEventRead | kEventSynchronous | kEventCancel;

// A send to rank 1 whose message is in flight, and which still waits for the events in `owed` (kEvent...).
struct IncompleteSend {
  explicit IncompleteSend(unsigned owed) : send(new_send(parts, hand.comm())) { begin(owed); }
  void begin(unsigned owed) {
    send.peer = 1;
    send.body = portals::Region(data.data(), data.size());
    send.events = static_cast<std::uint8_t>(owed);
    listen(parts, send);
    make_readable(parts, send);
    expect_answer(parts, send);
  }
  void take_body(sim::Transmission::State state) {
    send.transmission.state = state;
    end_transmission(parts, send);
  }
  [[nodiscard]] portals::Header answer(Answer what) const {
    portals::Header header = HandMade::header(portals::Kind::put, kAcknowledgmentPortal, answer_bits_of(send));
    header.user_data[0] = static_cast<std::byte>(what);
    return header;
  }
  [[nodiscard]] portals::Header acknowledgment(portals::Saved saved) const {
    portals::Header header = answer(Answer::synchronous);
    header.kind = portals::Kind::acknowledgment;
    header.user_data[0] = static_cast<std::byte>(saved);
    return header;
  }
  // Rank 1 sends these, and the kernel gets them before the device processes its events.
  void arrive(const std::vector<portals::Header>& headers) {
    for (const portals::Header& header : headers) hand.inject(header);
    sim::Kernel& mine = hand.world().kernel(0);
    const std::uint64_t before = mine.registers().delivered(1);
    for (bool moved = true; moved;) {
      moved = hand.world().kernel(1).progress();
      moved |= mine.progress();
      moved |= hand.world().network().advance();
    }
    REQUIRE(mine.registers().delivered(1) == before + headers.size());
  }
  // The same, and the device processes its events.
  void come(const std::vector<portals::Header>& headers) {
    arrive(headers);
    take_answers(parts, send);
  }
  [[nodiscard]] bool closed() {
    return !send.listening && !send.readable && !send.answer_entry.listed() && !send.read_entry.listed() &&
           !hand.world().kernel(0).unfinished();
  }
  [[nodiscard]] std::uint64_t dropped() {
    return hand.world().kernel(0).registers().drops()[static_cast<std::size_t>(portals::DropReason::no_match)];
  }

  HandMade hand;
  DeviceParts& parts = parts_of(hand.device());
  std::vector<std::byte> data = pattern(kShortBytes, 3);
  SendRequest& send;
};

TEST_CASE("a transmitted body settles that event and no other") {
  for (const auto state : {sim::Transmission::State::sent, sim::Transmission::State::stopped}) {
    IncompleteSend one(kEventAll);
    one.take_body(state);
    CHECK(one.send.events == (kEventAll & ~unsigned{kEventBodyTaken}));
    CHECK(!one.send.complete);
    CHECK(one.send.listening);
    CHECK(one.send.error_class == MPI_SUCCESS);
  }
}

TEST_CASE("a send completes with the last of its events, in any order") {
  for (const unsigned last : {kEventBodyTaken, kEventAcknowledgment, kEventRead, kEventSynchronous, kEventCancel}) {
    CAPTURE(last);
    IncompleteSend one(last);
    switch (last) {
      case kEventBodyTaken:
        one.take_body(sim::Transmission::State::sent);
        break;
      case kEventAcknowledgment:
        one.come({one.acknowledgment(portals::Saved::both)});
        break;
      case kEventRead:
        take_pull(one.parts, one.send);
        break;
      case kEventSynchronous:
        one.come({one.answer(Answer::synchronous)});
        break;
      default:
        one.come({one.answer(Answer::not_returned)});
    }
    CHECK(one.send.complete);
    CHECK(!one.send.cancelled);
    CHECK(one.send.error_class == MPI_SUCCESS);
    CHECK(one.closed());
    CHECK(one.parts.incomplete_requests == 0);
  }
}

TEST_CASE("a failed transmission ends its send with an error, whatever other events it awaits") {
  IncompleteSend one(kEventAll);
  one.take_body(sim::Transmission::State::failed);
  CHECK(one.send.complete);
  CHECK(one.send.error_class == MPIX_ERR_PROC_FAILED);
  CHECK(one.send.events == 0);
  CHECK(one.closed());
}

TEST_CASE("each answer settles its own event, also if two arrive at once") {
  IncompleteSend one(kEventAll);
  one.come({one.answer(Answer::synchronous)});
  CHECK(one.send.events == (kEventAll & ~unsigned{kEventSynchronous}));
  one.come({one.answer(Answer::not_returned)});
  CHECK(one.send.events == (kEventBodyTaken | kEventAcknowledgment | kEventRead));
  CHECK(!one.send.cancelled);
  IncompleteSend two(kEventAcknowledgment | kEventSynchronous);
  two.come({two.acknowledgment(portals::Saved::both), two.answer(Answer::synchronous)});
  CHECK(two.send.complete);
  CHECK(two.parts.counts.long_matched.messages == 1);
}

TEST_CASE("after an acknowledgment of the header alone the send waits for its reader, unless that was faster") {
  IncompleteSend slow(kEventAcknowledgment);
  slow.come({slow.acknowledgment(portals::Saved::header)});
  CHECK(slow.send.events == kEventRead);
  CHECK(!slow.send.complete);
  take_pull(slow.parts, slow.send);
  CHECK(slow.send.complete);

  IncompleteSend quick(kEventAcknowledgment);
  take_pull(quick.parts, quick.send);
  CHECK(!quick.send.complete);
  quick.come({quick.acknowledgment(portals::Saved::header)});
  CHECK(quick.send.complete);
}

TEST_CASE("a returned message owes only its body") {
  IncompleteSend one(kEventAll);
  one.come({one.answer(Answer::returned)});
  CHECK(one.send.cancelled);
  CHECK(one.send.events == kEventBodyTaken);
  CHECK(!one.send.complete);
  one.take_body(sim::Transmission::State::stopped);
  CHECK(one.send.complete);
  CHECK(one.send.error_class == MPI_SUCCESS);
  CHECK(one.closed());
}

TEST_CASE("a returned message waits for no reader, in whichever rows its answers are") {
  // The rows are used in turn, so that the later answer may be in the earlier row.
  for (std::size_t used = 0; used < 3; ++used) {
    CAPTURE(used);
    IncompleteSend one(kEventAll);
    for (std::size_t row = 0; row < used; ++row) one.come({one.answer(Answer::synchronous)});
    one.come({one.acknowledgment(portals::Saved::header), one.answer(Answer::returned)});
    CHECK(one.send.cancelled);
    CHECK(one.send.events == kEventBodyTaken);
  }
}

TEST_CASE("an answer that this version does not know counts as the receiver's acceptance of the message") {
  IncompleteSend one(kEventSynchronous | kEventCancel);
  one.come({one.answer(static_cast<Answer>(200))});
  CHECK(one.send.events == kEventCancel);
}

TEST_CASE("the rows are reused any number of times") {
  IncompleteSend one(kEventAll);
  for (int round = 0; round < 4; ++round) {
    one.come({one.answer(Answer::not_returned), one.answer(Answer::not_returned), one.answer(Answer::not_returned)});
  }
  CHECK(one.send.answer_block.messages() == 12);
  CHECK(one.dropped() == 0);
  CHECK(one.send.events == (kEventAll & ~unsigned{kEventCancel}));
}

TEST_CASE("answers to a completed send change nothing, and leave its rows free for its next use") {
  IncompleteSend one(kEventSynchronous);
  one.arrive({one.answer(Answer::synchronous), one.answer(Answer::returned)});
  one.take_body(sim::Transmission::State::failed);  // it ends before the device processes the answers
  REQUIRE(one.send.complete);
  const std::uint64_t completions = one.parts.completions;
  take_answers(one.parts, one.send);
  take_pull(one.parts, one.send);
  one.take_body(sim::Transmission::State::sent);
  CHECK(!one.send.cancelled);
  CHECK(!one.send.read_done);
  CHECK(one.parts.completions == completions);
  CHECK(one.send.error_class == MPIX_ERR_PROC_FAILED);
  for (const portals::IndependentBuffer& row : one.send.answers) {
    CHECK(row.state == portals::IndependentBuffer::State::available);
  }
}

TEST_CASE("an answer that was not read before the request was reused does not affect the new use") {
  IncompleteSend one(kEventAll);
  one.arrive({one.answer(Answer::returned)});
  one.take_body(sim::Transmission::State::failed);
  release(one.parts, one.send);
  const SendRequest& again = new_send(one.parts, one.hand.comm());
  REQUIRE(&again == &one.send);
  take_answers(one.parts, one.send);
  CHECK(!again.cancelled);
  CHECK(!again.complete);
}

TEST_CASE("an answer for an earlier use of the request finds no entry") {
  IncompleteSend one(kEventSynchronous);
  const portals::Header late = one.answer(Answer::returned);
  one.come({one.answer(Answer::synchronous)});
  release(one.parts, one.send);
  SendRequest& again = new_send(one.parts, one.hand.comm());
  REQUIRE(&again == &one.send);
  one.begin(kEventSynchronous);
  one.hand.inject(late);
  one.hand.settle();
  CHECK(one.dropped() == 1);
  CHECK(again.events == kEventSynchronous);
  CHECK(!again.cancelled);
  one.come({one.answer(Answer::synchronous)});
  CHECK(again.complete);
}

TEST_CASE("an answer from a process other than the receiver finds no entry") {
  IncompleteSend one(kEventSynchronous);
  REQUIRE(one.hand.world().kernel(0).try_send(one.answer(Answer::synchronous), {}));
  one.hand.settle();
  CHECK(one.dropped() == 1);
  CHECK(!one.send.complete);
}

}  // namespace
}  // namespace margay::mpi_adi
