#include "mpi_adi/protocol/post_receive.hpp"

#include "mpi_adi/datatype/construct.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

struct Posting {
  explicit Posting(const sim::VirtualOptions& network = {}) : hand({}, 1, network) {}
  ReceiveRequest& post(std::vector<std::byte>& into, int source = 1, int tag = 7,
                       Context context = Context::point_to_point) {
    return post_receive(parts, {into.data(), static_cast<std::int64_t>(into.size()), &hand.bytes(), source, tag,
                                &hand.comm(), context});
  }
  // The message is in the heap.
  void unexpected(const std::vector<std::byte>& body, int tag = 7) {
    hand.inject(HandMade::message(body.size(), {}, 0, tag), body);
    hand.settle();
  }

  HandMade hand;
  DeviceParts& parts = parts_of(hand.device());
  std::vector<std::byte> data = pattern(kShortBytes, 1);
  std::vector<std::byte> other = pattern(kShortBytes, 2);
  std::vector<std::byte> room = std::vector<std::byte>(kShortBytes);
  std::vector<std::byte> more = std::vector<std::byte>(kShortBytes);
};

TEST_CASE("a prepared receive has its buffer and is in no list") {
  Posting posting;
  const ReceiveRequest& request =
      prepare_receive(posting.parts, posting.room.data(), 10, posting.hand.bytes(), posting.hand.comm());
  CHECK(request.room().bytes() == 10);
  CHECK(request.room().single().base == posting.room.data());
  CHECK(!request.in_pieces);
  CHECK(request.state == ReceiveState::idle);
  CHECK(!request.entry.listed());
  CHECK(posting.hand.comm().references == 2);
}

TEST_CASE("a receive that finds no message is posted with its criteria, and its message is written to its buffer") {
  Posting posting;
  const ReceiveRequest& request = posting.post(posting.room, 1, 9);
  CHECK(request.state == ReceiveState::posted);
  CHECK(!request.complete);
  CHECK(request.source == 1);
  CHECK(request.tag == 9);
  CHECK(request.peer == 1);
  CHECK(request.entry.listed());
  posting.unexpected(posting.other);  // another tag
  CHECK(!request.complete);
  posting.unexpected(posting.data, 9);
  CHECK(request.complete);
  CHECK(posting.room == posting.data);
  CHECK(posting.parts.counts.unexpected == 0);
}

TEST_CASE("a receive from any source may wait for all members") {
  Posting posting;
  const ReceiveRequest& request = posting.post(posting.room, MPI_ANY_SOURCE, MPI_ANY_TAG);
  CHECK(request.peer == portals::kAnyRank);
  CHECK(request.source == MPI_ANY_SOURCE);
  posting.unexpected(posting.data, 31);
  CHECK(request.complete);
  CHECK(request.source == 1);
  CHECK(request.tag == 31);
}

TEST_CASE("a receive takes an unexpected message out of the heap, and is never posted") {
  Posting posting;
  posting.unexpected(posting.data);
  const ReceiveRequest& request = posting.post(posting.room);
  CHECK(request.complete);
  CHECK(request.state == ReceiveState::complete);
  CHECK(!request.entry.listed());
  CHECK(posting.room == posting.data);
  CHECK(posting.parts.counts.unexpected == 1);
  CHECK(posting.parts.heap.queued() == 0);
}

TEST_CASE("messages in the heap for other receives remain there") {
  Posting posting;
  posting.unexpected(posting.data);
  CHECK(!posting.post(posting.room, 1, 8).complete);
  CHECK(!posting.post(posting.room, 0, 7).complete);
  CHECK(!posting.post(posting.room, MPI_ANY_SOURCE, MPI_ANY_TAG, Context::collective).complete);
  CHECK(posting.parts.heap.queued() == 1);
  CHECK(posting.post(posting.room, MPI_ANY_SOURCE, MPI_ANY_TAG).complete);
}

TEST_CASE("a communicator's two contexts are separate") {
  Posting posting;
  const ReceiveRequest& request = posting.post(posting.room, 1, 7, Context::collective);
  posting.unexpected(posting.other);
  CHECK(!request.complete);
  portals::Header header = HandMade::message(kShortBytes, {});
  header.match_bits = envelope_bits(7, 1, posting.hand.comm().collective_context);
  posting.hand.inject(header, posting.data);
  posting.hand.settle();
  CHECK(request.complete);
  CHECK(posting.room == posting.data);
}

TEST_CASE("posted receives that accept the same message get theirs in the order of their posting") {
  Posting posting;
  const ReceiveRequest& first = posting.post(posting.room, MPI_ANY_SOURCE, MPI_ANY_TAG);
  const ReceiveRequest& second = posting.post(posting.more);
  posting.unexpected(posting.data);
  CHECK(first.complete);
  CHECK(!second.complete);
  posting.unexpected(posting.other);
  CHECK(second.complete);
  CHECK(posting.room == posting.data);
  CHECK(posting.more == posting.other);
}

TEST_CASE("a receive takes the oldest message in the heap that it accepts") {
  Posting posting;
  const std::vector<std::byte> third = pattern(kShortBytes, 3);
  posting.unexpected(posting.data, 5);
  posting.unexpected(posting.other, 7);
  posting.unexpected(third, 7);
  CHECK(posting.post(posting.room, 1, 7).complete);
  CHECK(posting.room == posting.other);
  CHECK(posting.post(posting.room, 1, MPI_ANY_TAG).complete);
  CHECK(posting.room == posting.data);
  CHECK(posting.post(posting.room, 1, MPI_ANY_TAG).complete);
  CHECK(posting.room == third);
}

TEST_CASE("an empty message is received without a buffer, posted or out of the heap") {
  for (const bool posted : {true, false}) {
    CAPTURE(posted);
    Posting posting;
    std::vector<std::byte> none;
    if (!posted) posting.unexpected(none);
    const ReceiveRequest& request = posting.post(none);
    CHECK(request.complete == !posted);
    if (posted) posting.unexpected(none);
    CHECK(request.complete);
    CHECK(request.bytes == 0);
    CHECK(request.error_class == MPI_SUCCESS);
  }
}

TEST_CASE("a header in the heap is pulled, an incomplete message is claimed") {
  sim::VirtualOptions slow;
  slow.segment_bytes = 16;
  Posting posting(slow);
  portals::Header header = HandMade::message(0, {NoteProtocol::rendezvous, false, 5}, kLongBit);
  header.return_length = kLongBytes;
  posting.hand.inject(header);
  posting.hand.settle();
  CHECK(posting.post(posting.room).state == ReceiveState::pulling);
  posting.hand.inject(HandMade::message(kShortBytes, {}), posting.data);
  REQUIRE(posting.hand.world().until([&] { return posting.parts.heap.queued() != 0; }));
  const ReceiveRequest& claim = posting.post(posting.more);
  CHECK(claim.state == ReceiveState::claiming);
  CHECK(!claim.entry.listed());
  posting.hand.settle();
  CHECK(claim.complete);
  CHECK(posting.more == posting.data);
}

TEST_CASE("a receive from a lost process ends at once, but gets the messages that had arrived before") {
  Posting posting;
  posting.unexpected(posting.data);
  posting.hand.world().network().lose(1);
  posting.hand.settle();
  const ReceiveRequest& came = posting.post(posting.room);
  CHECK(came.complete);
  CHECK(came.error_class == MPI_SUCCESS);
  CHECK(posting.room == posting.data);
  for (const int source : {1, MPI_ANY_SOURCE}) {
    const ReceiveRequest& request = posting.post(posting.room, source);
    CHECK(request.complete);
    CHECK(request.error_class == MPIX_ERR_PROC_FAILED);
    CHECK(!request.entry.listed());
  }
  CHECK(!posting.post(posting.room, 0).complete);
}

TEST_CASE("a source is a rank of the communicator, not of the world") {
  Posting posting;
  auto group = std::make_shared<Group>();
  group->world_ranks = {1, 0};
  group->my_rank = 1;
  Communicator turned;
  turned.context = 4;
  turned.set_groups(group);
  const ReceiveRequest& request =
      post_receive(posting.parts, {posting.room.data(), kShortBytes, &posting.hand.bytes(), 0, 7, &turned});
  CHECK(request.peer == 1);
  portals::Header header = HandMade::message(kShortBytes, {});
  header.match_bits = envelope_bits(7, 0, 4);
  posting.hand.inject(header, posting.data);
  posting.hand.settle();
  CHECK(request.complete);
  CHECK(request.source == 0);
  CHECK(turned.references == 2);
  posting.hand.device().free(*const_cast<ReceiveRequest*>(&request));
  CHECK(turned.references == 1);
}

TEST_CASE("a receive of a type with holes writes the bytes to their addresses") {
  for (const bool posted : {true, false}) {
    CAPTURE(posted);
    Posting posting;
    PredefinedTypes types;
    Datatype strided(make_hvector(4, 1, 8, types.find(MPI_INT)->definition, {}));
    std::vector<std::byte> room(32, std::byte{9});
    const std::vector<std::byte> body = pattern(16, 4);
    if (!posted) posting.unexpected(body);
    ReceiveRequest& request = post_receive(posting.parts, {room.data(), 1, &strided, 1, 7, &posting.hand.comm()});
    CHECK(request.in_pieces);
    CHECK(request.room().bytes() == 16);
    if (posted) posting.unexpected(body);
    REQUIRE(request.complete);
    for (std::size_t i = 0; i < 28; ++i) CHECK(room[i] == (i % 8 < 4 ? body[i / 8 * 4 + i % 8] : std::byte{9}));
    CHECK(strided.definition.use_count() == 1);
    // Expect: the next use of the request, with plain bytes, is in one piece again.
    posting.hand.device().free(request);
    CHECK(!posting.post(posting.room).in_pieces);
  }
}

TEST_CASE("a trace records the posting, and whether the search of the heap found a message") {
  Posting posting;
  sim::Recorder& recorder = posting.parts.recorder();
  REQUIRE(recorder.open_memory().ok());
  const ReceiveRequest& missed = posting.post(posting.room, MPI_ANY_SOURCE, 9);
  std::vector<sim::TraceEvent> reported = recorder.events();
  REQUIRE(reported.size() == 2);
  CHECK(reported[0].kind == sim::TraceKind::post_receive);
  CHECK(reported[0].source == portals::kAnyRank);
  CHECK(reported[0].destination == 0);
  CHECK(reported[0].bytes == kShortBytes);
  CHECK(reported[0].match_bits == missed.entry.criteria().match_bits);
  CHECK(reported[0].detail == missed.entry.criteria().ignore_bits);
  CHECK(reported[0].a == missed.pooled.index);
  CHECK(reported[1].kind == sim::TraceKind::search_miss);
  CHECK(reported[1].match_bits == reported[0].match_bits);
  posting.unexpected(posting.data);
  recorder.clear();
  const ReceiveRequest& hit = posting.post(posting.more);
  reported = recorder.events();
  REQUIRE(reported.size() == 4);
  CHECK(reported[0].kind == sim::TraceKind::post_receive);
  CHECK(reported[0].source == 1);
  CHECK(reported[1].kind == sim::TraceKind::search_hit);
  CHECK(reported[1].a == hit.pooled.index);
  CHECK(reported[2].kind == sim::TraceKind::receive_complete);
  CHECK(reported[3].kind == sim::TraceKind::request_complete);
}

}  // namespace
}  // namespace margay::mpi_adi
