// Tests of the small units of mpi_adi/device: match bits, notes, pools, pieces.
#include "mpi_adi/device/parts.hpp"

#include <array>
#include <cstring>

#include "mpi_adi/datatype/construct.hpp"
#include "mpi_adi/datatype/predefined_types.hpp"
#include "tests/mpi_adi/hand_made.hpp"

namespace margay::mpi_adi {
namespace {

TEST_CASE("match bits keep tag, source and context separate") {
  const portals::MatchBits bits = envelope_bits(0x7fff'ffff, 65535, 8191, kTypeMask);
  CHECK(bits == 0x7fff'ffff'ffff'ffff);
  CHECK(tag_of(bits) == 0x7fff'ffff);
  CHECK(source_of(bits) == 65535);
  CHECK(tag_of(envelope_bits(-5, 0, 0)) == -5);
  CHECK(envelope_bits(1, 0, 0) == portals::MatchBits{1} << 32);
  CHECK(envelope_bits(0, 1, 0) == portals::MatchBits{1} << 16);
  CHECK(envelope_bits(0, 0, 1) == portals::MatchBits{1} << 3);
}

TEST_CASE("receive criteria contain wildcards and the accepted types of message") {
  portals::Header header;
  const auto takes = [&header](int source, int tag, portals::MatchBits bits) {
    header.match_bits = bits;
    return receive_criteria(source, tag, 5).accepts(header);
  };
  const portals::MatchBits bits = envelope_bits(7, 3, 5);
  CHECK(takes(3, 7, bits));
  CHECK(takes(3, 7, bits | kReadyBit));
  CHECK(takes(3, 7, bits | kLongBit));
  CHECK(!takes(3, 7, bits | kReplyBit));
  CHECK(!takes(MPI_ANY_SOURCE, MPI_ANY_TAG, bits | kReplyBit));
  CHECK(takes(MPI_ANY_SOURCE, 7, bits));
  CHECK(takes(3, MPI_ANY_TAG, bits));
  CHECK(!takes(MPI_ANY_SOURCE, 8, bits));
  CHECK(!takes(4, MPI_ANY_TAG, bits));
  CHECK(!takes(MPI_ANY_SOURCE, MPI_ANY_TAG, envelope_bits(7, 3, 6)));
}

TEST_CASE("answer and reply bits identify one use of a request") {
  CHECK(answer_bits(1, 2) != answer_bits(2, 1));
  CHECK(answer_bits(1, 2) != answer_bits(1, 3));
  CHECK(reply_bits(1, 2) != reply_bits(1, 3));
  CHECK((reply_bits(0xffff'ffff, 0xffff'ffff) & kTypeMask) == kReplyBit);
}

TEST_CASE("a note is read as it was written, and an unknown one is short") {
  for (const NoteProtocol protocol :
       {NoteProtocol::short_message, NoteProtocol::long_message, NoteProtocol::rendezvous}) {
    for (const bool synchronous : {false, true}) {
      portals::UserData data{};
      write_note(data, {protocol, synchronous, 0x1122334455667788});
      const Note note = read_note(data);
      CHECK(note.protocol == protocol);
      CHECK(note.synchronous == synchronous);
      CHECK(note.answer_bits == 0x1122334455667788);
    }
  }
  portals::UserData all_ones;
  all_ones.fill(std::byte{0xff});
  CHECK(read_note(all_ones).protocol == NoteProtocol::short_message);
}

struct Thing {
  Pooled pooled;
  int prepared = 0;
};

TEST_CASE("a pool's objects keep their address and number; a use has a number that is not 0") {
  Pool<Thing> pool;
  std::vector<Thing*> taken;
  for (int number = 0; number < 200; ++number) {
    Thing& thing = pool.take([](Thing& made) { ++made.prepared; });
    CHECK(thing.pooled.generation == 1);
    CHECK(thing.pooled.index == static_cast<std::uint32_t>(number));
    taken.push_back(&thing);
  }
  CHECK(pool.in_use() == 200);
  taken[50]->pooled.generation = 0xffff'ffff;
  pool.give_back(*taken[50]);
  Thing& again = pool.take();
  CHECK(&again == taken[50]);
  CHECK(again.pooled.generation == 1);
  CHECK(again.prepared == 1);
  std::size_t seen = 0;
  pool.for_each_in_use([&seen](const Thing&) { ++seen; });
  CHECK(seen == 200);
}

// `blocks` of 4 bytes each, at a distance of 8.
Datatype vector_type(std::size_t blocks) {
  PredefinedTypes types;
  const TypePtr four = types.find(MPI_INT)->definition;
  const TypePtr vector = make_hvector(static_cast<std::int64_t>(blocks), 1, 8, four, {});
  return Datatype(make_resized(vector, 0, static_cast<std::int64_t>(blocks * 8), {}));
}

TEST_CASE("pieces: dense elements are one run, neighbours join, others have a layout") {
  std::array<std::byte, 64> memory{};
  const Datatype dense = byte_type();
  Pieces pieces;
  CHECK(pieces.to_send(memory.data(), 64, dense).contiguous());
  CHECK(pieces.to_send(memory.data(), 0, dense).bytes() == 0);
  PredefinedTypes types;
  const std::array<MPI_Aint, 1> shifted{4};
  const TypePtr moved = make_indexed(std::array{1}, shifted, 1, types.find(MPI_INT)->definition, {});
  const Datatype joined(make_resized(moved, 0, 4, {}));  // not dense, yet one run
  CHECK(!joined.dense());
  const portals::Region run = pieces.to_send(memory.data(), 3, joined);
  CHECK(run.contiguous());
  CHECK(run.single().base == memory.data() + 4);
  CHECK(run.bytes() == 12);
  Datatype sparse = vector_type(3);
  const portals::Region laid_out = pieces.to_send(memory.data(), 2, sparse);
  CHECK(!laid_out.contiguous());
  CHECK(laid_out.bytes() == 24);
  const std::weak_ptr<const TypeDefinition> definition = sparse.definition;
  sparse = {};
  CHECK(!definition.expired());  // a message in transit keeps it
  pieces.clear();
  CHECK(definition.expired());
}

TEST_CASE("bodies in pieces are sent in both directions, short and long") {
  for (const std::size_t blocks : {std::size_t{3}, std::size_t{5000}, std::size_t{70000}}) {
    CAPTURE(blocks);
    VirtualWorld world(WorldOptions{});
    Datatype type = vector_type(blocks);
    const std::vector<std::byte> memory = pattern(blocks * 8, 1);
    std::vector<std::byte> room(memory.size());
    for (const bool posted : {true, false}) {
      Request* receive = nullptr;
      const auto post = [&] {
        receive = world.device(1).start_receive({room.data(), 1, &type, 0, 7, &world.world(1)});
      };
      if (posted) post();
      Request* send = world.device(0).start_send({SendMode::standard, memory.data(), 1, &type, 1, 7, &world.world(0)});
      if (!posted) world.settle();
      if (!posted) post();
      world.settle();
      REQUIRE(send->complete);
      REQUIRE(receive->complete);
      CHECK(receive->bytes == blocks * 4);
      for (std::size_t block = 0; block < blocks; ++block) {
        REQUIRE(std::memcmp(&room[block * 8], &memory[block * 8], 4) == 0);
        REQUIRE(room[block * 8 + 4] == std::byte{0});
      }
      world.device(0).free(*send);
      world.device(1).free(*receive);
      CHECK(type.definition.use_count() == 1);
    }
  }
}

TEST_CASE("messages to and from MPI_PROC_NULL complete at once") {
  HandMade hand;
  Request& receive = *hand.device().start_receive({nullptr, 0, &hand.bytes(), MPI_PROC_NULL, 7, &hand.comm()});
  CHECK(receive.complete);
  CHECK(receive.source == MPI_PROC_NULL);
  CHECK(receive.tag == MPI_ANY_TAG);
  CHECK(receive.bytes == 0);
  Request& send =
      *hand.device().start_send({SendMode::synchronous, nullptr, 0, &hand.bytes(), MPI_PROC_NULL, 7, &hand.comm()});
  CHECK(send.complete);
  hand.device().free(receive);
  hand.device().free(send);
  CHECK(hand.comm().references == 1);
}

TEST_CASE("a description names the awaited messages, and stops at its limit") {
  HandMade hand;
  std::vector<std::byte> room(kShortBytes);
  (void)hand.receive(room, MPI_ANY_SOURCE, 9);
  (void)hand.receive(room, 1, 10);
  const std::vector<std::byte> data = pattern(kLongBytes, 1);
  (void)hand.send(SendMode::standard, data);
  hand.inject(HandMade::message(kShortBytes, {}, 0, 33), room);
  hand.settle();
  std::string all;
  hand.device().describe(all, 10);
  CHECK(all.find("receive of up to 64 bytes from any source, tag 9") != std::string::npos);
  CHECK(all.find("send (" + std::string(sim::name(sim::TraceProtocol::long_send)) + ") of 20000 bytes to process 1") !=
        std::string::npos);
  CHECK(all.find("waits for its acknowledgment") != std::string::npos);
  CHECK(all.find("unexpected message of 64 bytes from rank 1 (process 1), tag 33") != std::string::npos);
  std::string some;
  hand.device().describe(some, 1);
  CHECK(some.find("... and 3 more") != std::string::npos);
}

TEST_CASE("a communicator is handed back when its last request releases it") {
  HandMade hand;
  Request& request = *hand.device().start_receive({nullptr, 0, &hand.bytes(), 1, 7, &hand.comm()});
  hand.device().free(request);
  hand.comm().freed = true;
  --hand.comm().references;
  CHECK(hand.device().take_unreferenced() == nullptr);
  hand.inject(HandMade::message(0, {}));
  hand.settle();
  CHECK(hand.device().take_unreferenced() == &hand.comm());
  CHECK(hand.device().take_unreferenced() == nullptr);
}

}  // namespace
}  // namespace margay::mpi_adi
