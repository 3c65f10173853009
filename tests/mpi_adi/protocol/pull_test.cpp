// Tests of pulls: the get for the body of a long message, its reply, and the end of the receive.
#include "mpi_adi/protocol/receive.hpp"

#include <optional>

#include "mpi_adi/protocol/post_receive.hpp"
#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

constexpr portals::MatchBits kSenderBits = 0x5eed;

// A pull by rank 0. Rank 1 only records the headers that it gets; the test itself injects the reply.
struct Pulling {
  explicit Pulling(std::size_t room_bytes, bool synchronous = false, const sim::VirtualOptions& network = {})
      : hand({}, 1, network), room(room_bytes, std::byte{1}) {
    hand.world().kernel(1).target().decisions().keep(8);
    portals::Header asked = HandMade::message(0, {NoteProtocol::rendezvous, synchronous, kSenderBits}, kLongBit);
    asked.return_length = kLongBytes;
    asked.source = {0, 1};
    start(asked);
  }
  void start(const portals::Header& asked) {
    request = &prepare_receive(parts, room.data(), static_cast<std::int64_t>(room.size()), hand.bytes(), hand.comm());
    take_envelope(*request, asked, read_note(asked.user_data));
    start_pull(parts, *request, asked);
  }
  // The header of the oldest message to rank 1 that has not been taken.
  [[nodiscard]] portals::Header asked() {
    hand.settle();
    const std::optional<sim::Decision> decision = hand.world().kernel(1).target().decisions().take();
    REQUIRE(decision.has_value());
    return decision->header;
  }
  [[nodiscard]] portals::MatchBits bits() const {
    return reply_bits(request->pooled.index, request->pooled.generation);
  }
  void reply(std::size_t bytes, portals::MatchBits to) {
    portals::Header header = HandMade::header(portals::Kind::reply, kReceivePortal, to);
    header.length = bytes;
    body.resize(bytes);
    hand.inject(header, body);
    hand.settle();
  }
  [[nodiscard]] std::uint64_t dropped() {
    return hand.world().kernel(0).registers().drops()[static_cast<std::size_t>(portals::DropReason::no_match)];
  }

  HandMade hand;
  DeviceParts& parts = parts_of(hand.device());
  std::vector<std::byte> room;
  std::vector<std::byte> body = pattern(kLongBytes, 6);
  ReceiveRequest* request = nullptr;
};

TEST_CASE("a pull requests from the sender's read portal, by its bits, the body up to the available room") {
  for (const std::size_t room : {std::size_t{0}, std::size_t{100}, kLongBytes, kLongBytes + 1}) {
    CAPTURE(room);
    Pulling pull(room);
    CHECK(pull.request->state == ReceiveState::pulling);
    const portals::Header get = pull.asked();
    CHECK(get.kind == portals::Kind::get);
    CHECK(get.portal == kReadPortal);
    CHECK(get.match_bits == kSenderBits);
    CHECK(get.offset == 0);
    CHECK(get.return_portal == kReceivePortal);
    CHECK(get.return_match_bits == pull.bits());
    CHECK(get.return_length == std::min(room, kLongBytes));
    CHECK(!pull.request->complete);
    CHECK(pull.hand.world().kernel(0).unfinished());
  }
}

TEST_CASE("if a long message's body was transferred too, the header's length is the message's") {
  Pulling pull(kLongBytes);
  static_cast<void>(pull.asked());
  portals::Header eager = HandMade::message(300, {NoteProtocol::long_message, false, 0x99}, kLongBit);
  eager.source = {0, 1};
  pull.start(eager);
  const portals::Header get = pull.asked();
  CHECK(get.match_bits == 0x99);
  CHECK(get.return_length == 300);
}

TEST_CASE("the reply ends the receive with the received bytes, and no answer is owed any more") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{99}, kLongBytes}) {
    CAPTURE(bytes);
    Pulling pull(kLongBytes);
    pull.reply(bytes, pull.bits());
    REQUIRE(pull.request->complete);
    CHECK(pull.request->state == ReceiveState::complete);
    CHECK(pull.request->error_class == MPI_SUCCESS);
    CHECK(pull.request->bytes == bytes);
    CHECK(pull.request->source == 1);
    CHECK(pull.request->tag == 7);
    CHECK(std::equal(pull.body.begin(), pull.body.end(), pull.room.begin()));
    if (bytes < kLongBytes) CHECK(pull.room[bytes] == std::byte{1});
    CHECK(!pull.request->expecting);
    CHECK(!pull.hand.world().kernel(0).unfinished());
    CHECK(!pull.request->entry.listed());
    CHECK(pull.hand.device().quiet());
  }
}

TEST_CASE("a pull into too little room is a truncation once the part that fits has arrived") {
  Pulling pull(50);
  CHECK(pull.request->error_class == MPI_SUCCESS);
  pull.reply(50, pull.bits());
  REQUIRE(pull.request->complete);
  CHECK(pull.request->error_class == MPI_ERR_TRUNCATE);
  CHECK(pull.request->bytes == 50);
  CHECK(pull.room == pull.body);
}

TEST_CASE("a reply to an earlier use of the request or to another one finds no entry") {
  Pulling pull(kShortBytes);
  const std::uint32_t index = pull.request->pooled.index;
  const std::uint32_t generation = pull.request->pooled.generation;
  const std::array<portals::MatchBits, 3> wrong{reply_bits(index, generation - 1), reply_bits(index + 1, generation),
                                                reply_bits(index, generation + 1)};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    pull.reply(kShortBytes, wrong[i]);
    CHECK(pull.dropped() == i + 1);
    CHECK(!pull.request->complete);
  }
  CHECK(pull.room[0] == std::byte{1});
  pull.reply(kShortBytes, pull.bits());
  CHECK(pull.request->complete);
  // Expect: a second reply finds no entry, because the first one has used it up.
  pull.reply(kShortBytes, pull.bits());
  CHECK(pull.dropped() == wrong.size() + 1);
}

TEST_CASE("a reply from a process other than the sender finds no entry") {
  Pulling pull(kShortBytes);
  portals::Header header = HandMade::header(portals::Kind::put, kReceivePortal, pull.bits());
  while (!pull.hand.world().kernel(0).try_send(header, {})) pull.hand.settle();
  pull.hand.settle();
  CHECK(pull.dropped() == 1);
  CHECK(!pull.request->complete);
}

TEST_CASE("a message of the same envelope is not the reply, but waits for the next receive") {
  Pulling pull(kShortBytes);
  const std::vector<std::byte> next = pattern(kShortBytes, 2);
  pull.hand.inject(HandMade::message(kShortBytes, {}), next);
  pull.hand.settle();
  CHECK(!pull.request->complete);
  std::vector<std::byte> room(kShortBytes);
  CHECK(pull.hand.receive(room).complete);
  CHECK(room == next);
  pull.reply(kShortBytes, pull.bits());
  CHECK(pull.request->complete);
  CHECK(pull.room == pull.body);
}

TEST_CASE("a synchronous sender is notified after its body has arrived and not before") {
  Pulling pull(kShortBytes, true);
  pull.hand.settle();
  CHECK(pull.hand.acknowledged.size() == 0);
  pull.reply(kShortBytes, pull.bits());
  CHECK(pull.request->complete);
  REQUIRE(pull.hand.acknowledged.size() == 1);
  CHECK(pull.hand.acknowledged.header(0).match_bits == kSenderBits);
}

TEST_CASE("a pull from a lost process expects no answer any more") {
  Pulling pull(kShortBytes);
  static_cast<void>(pull.asked());
  pull.hand.world().network().lose(1);
  pull.hand.settle();
  CHECK(pull.request->complete);
  CHECK(pull.request->error_class == MPIX_ERR_PROC_FAILED);
  CHECK(!pull.request->expecting);
  CHECK(!pull.hand.world().kernel(0).unfinished());
}

TEST_CASE("a pull over a full wire is sent later") {
  sim::VirtualOptions full;
  full.full_probability = 1.0;
  Pulling pull(kShortBytes, false, full);
  CHECK(pull.parts.header_messages.in_use() == 1);
  CHECK(pull.asked().match_bits == kSenderBits);
  CHECK(pull.parts.header_messages.in_use() == 0);
  pull.reply(kShortBytes, pull.bits());
  CHECK(pull.request->complete);
}

TEST_CASE("a trace records the start and the end of a pull, before the end of the receive") {
  Pulling pull(kShortBytes);
  static_cast<void>(pull.asked());
  sim::Recorder& recorder = pull.parts.recorder();
  REQUIRE(recorder.open_memory().ok());
  portals::Header asked = HandMade::message(40, {NoteProtocol::long_message, false, kSenderBits}, kLongBit);
  asked.source = {0, 1};
  pull.start(asked);
  pull.reply(40, pull.bits());
  std::vector<sim::TraceEvent> reported;
  for (const sim::TraceEvent& event : recorder.events()) {
    if (event.kind >= sim::TraceKind::post_receive && event.kind <= sim::TraceKind::pull_complete)
      reported.push_back(event);
  }
  REQUIRE(reported.size() == 4);
  CHECK(reported[0].kind == sim::TraceKind::pull_begin);
  CHECK(reported[0].match_bits == kSenderBits);
  CHECK(reported[1].kind == sim::TraceKind::pull_complete);
  CHECK(reported[2].kind == sim::TraceKind::receive_complete);
  CHECK(reported[3].kind == sim::TraceKind::request_complete);
  for (const sim::TraceEvent& event : reported) {
    CHECK(event.source == 1);
    CHECK(event.destination == 0);
    CHECK(event.bytes == 40);
    CHECK(event.a == pull.request->pooled.index);
  }
}

}  // namespace
}  // namespace margay::mpi_adi
