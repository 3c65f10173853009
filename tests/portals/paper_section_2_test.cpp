// Tests of section 2 of the paper, with its receive portal, send portals and read portal built as it describes them. A
// test's name quotes the words that it tests.
#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "portals/deliver.hpp"
#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/paper_section_2");

namespace {

// "32 bits for message tag, 16 bits for local source rank, 13 bits for context identifier, 3 bits for message type".
constexpr MatchBits kReady = 1;
constexpr MatchBits kReply = 2;
constexpr MatchBits kLong = 4;
constexpr MatchBits bits(std::uint64_t tag, std::uint64_t source, std::uint64_t context, MatchBits type) {
  return tag << 32 | source << 16 | context << 3 | type;
}
constexpr MatchBits kAnyTag = 0xffff'ffff'0000'0000;
constexpr MatchBits kAnySource = 0xffff'0000;
constexpr PortalIndex kAcknowledgments = 1;

// Figure 1. Any number of posted receives, then the short and the long catch-all on one heap.
struct ReceivePortal {
  explicit ReceivePortal(std::size_t heap_bytes = 1 << 16) : heap_memory(heap_bytes), heap(heap_memory.buffer()) {
    // "configured to ignore all bits except the first three, which must be zero"
    shorts.set({.match_bits = 0, .ignore_bits = ~MatchBits{7}}, heap, {}, {.no_room = Link::at(longs)});
    // "likewise configured to ignore all bits except the first three, the third of which must be set"; ready messages
    // have no overflow buffer, so the first must be clear.
    longs.set({.match_bits = kLong, .ignore_bits = ~(kLong | kReady)}, heap, {.save = Save::header});
    longs.overlay(shorts, {.save = Save::header, .acknowledge = true});
    list.append(shorts);
    list.append(longs);
    REQUIRE(kernel.table.attach(kPortal, list).ok());
  }
  // The entry takes its place but is not active: "the entry is not activated until a search of the dynamic heap".
  Receive& prepare(MatchBits wanted, MatchBits ignore, std::size_t bytes, bool acknowledge = false) {
    Receive& receive = *receives.emplace_back(std::make_unique<Receive>(bytes));
    receive.entry.set({.match_bits = wanted, .ignore_bits = ignore | kReady | kLong}, receive.block,
                      {.acknowledge = acknowledge});
    list.insert_before(shorts, receive.entry, MatchList::Start::inactive);
    return receive;
  }
  Receive& post(MatchBits wanted, MatchBits ignore, std::size_t size, bool acknowledge = false) {
    Receive& receive = prepare(wanted, ignore, size, acknowledge);
    list.activate(receive.entry);
    return receive;
  }
  Header long_header(MatchBits wanted, std::uint64_t length) {
    Header header = put(wanted | kLong, length);
    header.return_portal = kAcknowledgments;
    return header;
  }

  Kernel kernel;
  Memory heap_memory;
  DynamicBlock heap;
  std::vector<std::unique_ptr<Receive>> receives;
  MatchEntry shorts;
  MatchEntry longs;
  MatchList list;
};

}  // namespace

TEST_CASE("'The entry in the portal table points to a match list that contains an entry for each active receive'") {
  ReceivePortal portal;
  Receive& first = portal.post(bits(1, 0, 9, 0), 0, 16);
  Receive& second = portal.post(bits(1, 0, 9, 0), 0, 16);
  CHECK(portal.list.first() == &first.entry);
  CHECK(portal.list.next(first.entry) == &second.entry);
  // Receives that match the same message take messages in the order in which they were posted.
  CHECK(portal.kernel.send(bits(1, 0, 9, 0), "one").entry == &first.entry);
  CHECK(portal.kernel.send(bits(1, 0, 9, 0), "two").entry == &second.entry);
}

TEST_CASE("'needs header information ... to obtain message tag and source values should these be wildcarded'") {
  ReceivePortal portal;
  Receive& receive = portal.post(bits(0, 0, 9, 0), kAnyTag | kAnySource, 16);
  portal.kernel.send(put(bits(77, 5, 9, 0), 3, {1, 5}), "abc");
  CHECK(receive.rows[0].header.match_bits == bits(77, 5, 9, 0));
  CHECK(receive.rows[0].header.source == ProcessId{1, 5});
  CHECK(receive.rows[0].bytes == 3);
}

TEST_CASE("'The first catchall entry has a dynamic block ... to save both the message header and the message body'") {
  ReceivePortal portal;
  const Verdict verdict = portal.kernel.send(bits(1, 2, 3, 0), "unexpected");
  CHECK(verdict.entry == &portal.shorts);
  CHECK(verdict.saved == Saved::both);
  ArrivedMessage* const message = portal.heap.first();
  REQUIRE(message == verdict.message);
  CHECK(text(Region(message->body)) == "unexpected");
  CHECK(message->header.match_bits == bits(1, 2, 3, 0));
  CHECK(message->complete);
}

TEST_CASE("'The second catchall entry ... is configured to save only the message header'") {
  ReceivePortal portal;
  const Header header = portal.long_header(bits(1, 2, 3, 0), 1 << 20);
  const Verdict verdict = portal.kernel.delivery.decide(header);
  CHECK(verdict.entry == &portal.longs);
  CHECK(verdict.saved == Saved::header);
  CHECK(verdict.landing.bytes() == 0);
  CHECK(verdict.message->complete);
  portal.kernel.delivery.complete(verdict, header);
  CHECK(portal.heap.first()->header == header);
  CHECK(portal.heap.first()->body.bytes == 0);
  CHECK(portal.heap.bytes() == 0);
  CHECK(portal.heap.messages() == 1);
}

TEST_CASE("'both entries use the same heap list structure, insuring correct ordering for unexpected messages'") {
  ReceivePortal portal;
  portal.kernel.send(bits(1, 0, 9, 0), "short one");
  portal.kernel.send(portal.long_header(bits(1, 0, 9, 0), 100000));
  portal.kernel.send(bits(1, 0, 9, 0), "short two");
  const Criteria criteria{.match_bits = bits(1, 0, 9, 0), .ignore_bits = kReady | kLong};
  std::vector<Saved> saved;
  while (ArrivedMessage* const message = portal.heap.find(criteria)) {
    saved.push_back(message->saved);
    CHECK(message->arrival == saved.size());
    portal.heap.release(*message);
  }
  CHECK(saved == std::vector{Saved::both, Saved::header, Saved::both});
}

TEST_CASE("'The three bits for message type in the match bits are used to choose the catchall entry'") {
  ReceivePortal portal;
  CHECK(portal.kernel.send(bits(1, 2, 3, 0), "").entry == &portal.shorts);
  CHECK(portal.kernel.send(bits(1, 2, 3, kLong), "").entry == &portal.longs);
  // An unexpected reply matches neither if it is short.
  CHECK(portal.kernel.send(bits(1, 2, 3, kReply), "").reason == DropReason::no_match);
}

TEST_CASE(
    "ready: 'these messages have no overflow buffer and will simply be discarded if there is no pre-posted receive'") {
  ReceivePortal portal;
  CHECK(portal.kernel.send(bits(1, 2, 3, kReady), "x").outcome == Outcome::drop);
  CHECK(portal.kernel.send(bits(1, 2, 3, kReady | kLong), "x").reason == DropReason::no_match);
  Receive& receive = portal.post(bits(1, 2, 3, 0), 0, 8);
  CHECK(portal.kernel.send(bits(1, 2, 3, kReady), "x").entry == &receive.entry);
}

TEST_CASE("'for pre-posted receives are configured to ignore the ready send and long send message type bits'") {
  for (const MatchBits type : {MatchBits{0}, kReady, kLong, kReady | kLong}) {
    ReceivePortal portal;
    Receive& receive = portal.post(bits(1, 2, 3, 0), 0, 8);
    CHECK(portal.kernel.send(bits(1, 2, 3, type), "x").entry == &receive.entry);
  }
  // "The second message type bit is used to distinguish between regular messages and reply messages".
  ReceivePortal portal;
  Receive& receive = portal.post(bits(1, 2, 3, kReply), 0, 8);
  CHECK(portal.kernel.send(bits(1, 2, 3, 0), "x").entry == &portal.shorts);
  CHECK(portal.kernel.send(bits(1, 2, 3, kReply), "x").entry == &receive.entry);
}

TEST_CASE("'the acknowledgment will indicate that both header and body were saved', or 'only the header'") {
  ReceivePortal portal;
  portal.post(bits(1, 2, 3, 0), 0, 16, true);
  const Verdict posted = portal.kernel.send(portal.long_header(bits(1, 2, 3, 0), 4), "body");
  CHECK(posted.acknowledge);
  CHECK(posted.saved == Saved::both);
  const Verdict unexpected = portal.kernel.send(portal.long_header(bits(1, 2, 3, 0), 4));
  CHECK(unexpected.acknowledge);
  CHECK(unexpected.saved == Saved::header);
  // "For short protocol receives, an independent block ... with no acknowledgment is attached".
  portal.post(bits(5, 2, 3, 0), 0, 16);
  CHECK_FALSE(portal.kernel.send(portal.long_header(bits(5, 2, 3, 0), 4), "body").acknowledge);
}

TEST_CASE(
    "'a match list ... for collecting acknowledgments. ... an independent block ... to save only the message header'") {
  Kernel kernel;
  std::array<IndependentBuffer, 2> rows;
  IndependentBlock block(rows, Progression::linear);
  constexpr MatchBits kHandles = 0x1234'5678'9abc'def0;
  MatchEntry entry({.match_bits = kHandles}, block, {.save = Save::header});
  MatchList list;
  list.append(entry);
  REQUIRE(kernel.table.attach(kAcknowledgments, list).ok());
  Header header;
  header.kind = Kind::acknowledgment;
  header.portal = kAcknowledgments;
  header.match_bits = kHandles;
  header.user_data[0] = static_cast<std::byte>(Saved::both);
  header.return_length = 4096;
  const Verdict verdict = kernel.send(header);
  CHECK(verdict.saved == Saved::header);
  CHECK(rows[0].header.user_data[0] == static_cast<std::byte>(Saved::both));
  CHECK(rows[0].header == header);
  CHECK(rows[0].bytes == 0);
  // "must be unique for each send request"
  header.match_bits ^= 1;
  CHECK(kernel.send(header).reason == DropReason::no_match);
}

TEST_CASE("'cause the data in the appropriate buffer to be replied back to the original message's point of origin'") {
  Kernel kernel;
  Memory memory(64);
  std::memcpy(memory.data(), "a long message", 14);
  SingleBlock block({memory.data(), 14});
  MatchEntry entry({.match_bits = 7}, block, {.offset_by = OffsetBy::sender, .direction = Direction::read_only});
  MatchList list;
  list.append(entry);
  REQUIRE(kernel.table.attach(kPortal, list).ok());
  const Header header = get(7, 7, 7);
  const Verdict verdict = kernel.delivery.decide(header);
  CHECK(verdict.outcome == Outcome::reply);
  CHECK(text(verdict.landing) == "message");
  CHECK_FALSE(verdict.acknowledge);
  kernel.delivery.complete(verdict, header);
  // "The sender must then wait for the appropriate number of bytes to be read from the single block portal."
  CHECK(block.bytes() == 7);
  CHECK(block.messages() == 1);
  CHECK(kernel.changed.take() == &block);
}

TEST_CASE("'the message is copied out of the heap and the space in the heap is freed'") {
  ReceivePortal portal;
  portal.kernel.send(bits(1, 2, 3, 0), "in the heap");
  ArrivedMessage* const found = portal.heap.find({.match_bits = bits(1, 2, 3, 0)});
  REQUIRE(found != nullptr);
  CHECK(text(Region(found->body)) == "in the heap");
  portal.heap.release(*found);
  CHECK(portal.heap.used_bytes() == 0);
  CHECK(portal.heap.find({.match_bits = bits(1, 2, 3, 0)}) == nullptr);
}

TEST_CASE("'If the search of the heap is unsuccessful, the entry is activated'") {
  ReceivePortal portal;
  Receive& receive = portal.prepare(bits(1, 2, 3, 0), 0, 16);
  // Until then messages pass it by.
  CHECK(portal.kernel.send(bits(1, 2, 3, 0), "early").entry == &portal.shorts);
  portal.list.activate(receive.entry);
  CHECK(portal.kernel.send(bits(1, 2, 3, 0), "late").entry == &receive.entry);
  CHECK(receive.entry.active());
}

TEST_CASE("'Message arrival on the entry is signalled by an update of the bytes written to the memory descriptor'") {
  ReceivePortal portal;
  Receive& receive = portal.post(bits(1, 2, 3, 0), 0, 16);
  const Header header = put(bits(1, 2, 3, 0), 5);
  const Verdict verdict = portal.kernel.delivery.decide(header);
  CHECK(receive.block.bytes() == 0);
  move_body(verdict, "12345");
  portal.kernel.delivery.complete(verdict, header);
  CHECK(receive.block.bytes() == 5);
  CHECK(portal.kernel.changed.take() == &receive.block);
}

TEST_CASE(
    "'For long synchronous messages that are pulled': the reply goes into memory in pieces, and its header is kept") {
  // margay's extension of the independent block: a buffer may be a combined region.
  Kernel kernel;
  Memory memory(16);
  std::fill_n(memory.data(), 16, std::byte{'.'});
  std::array<Buffer, 3> pieces = {Buffer{memory.data() + 8, 2}, Buffer{memory.data(), 3},
                                  Buffer{memory.data() + 12, 4}};
  std::array<IndependentBuffer, 1> rows;
  rows[0].memory = Region(pieces);
  IndependentBlock block(rows, Progression::linear);
  MatchEntry entry({.match_bits = kReply, .ignore_bits = ~kReply}, block, {});
  MatchList list;
  list.append(entry);
  REQUIRE(kernel.table.attach(kPortal, list).ok());
  Header header = put(kReply, 7);
  header.kind = Kind::reply;
  CHECK(kernel.send(header, "abcdefg").outcome == Outcome::deposit);
  CHECK(memory.text() == "cde.....ab..fg..");
  CHECK(rows[0].header == header);
  CHECK(rows[0].bytes == 7);
}

TEST_CASE("truncation: a too-small receive gives its one buffer to an overlaid entry that saves what fits") {
  for (const std::size_t others : {0U, 40U}) {
    CAPTURE(others);
    ReceivePortal portal;
    for (std::size_t at = 0; at < others; ++at) portal.post(bits(at, 1, 1, 0), 0, 8);
    Receive receive(4);
    MatchEntry truncated;
    truncated.set({.ignore_bits = ~MatchBits{0}}, receive.block, {});
    receive.entry.set({.match_bits = bits(1, 2, 3, 0), .ignore_bits = kReady | kLong}, receive.block, {},
                      {.too_small = Link::at(truncated)});
    truncated.overlay(receive.entry, {.truncate = true});
    portal.list.insert_before(portal.shorts, receive.entry);
    portal.list.adopt(truncated);

    const Header header = put(bits(1, 2, 3, 0), 5);
    const Verdict verdict = portal.kernel.send(header, "12345");
    CHECK(verdict.entry == &truncated);
    CHECK(verdict.outcome == Outcome::deposit);
    CHECK(verdict.saved == Saved::both);
    CHECK(verdict.landing.bytes() == 4);
    CHECK(receive.rows[0].state == IndependentBuffer::State::filled);
    CHECK(receive.rows[0].bytes == 4);
    CHECK(receive.rows[0].header == header);
    CHECK(receive.block.messages() == 1);
    CHECK(receive.block.bytes() == 4);
    CHECK(portal.kernel.changed.take() == &receive.block);
    // The receive's buffer is used, so the next message is unexpected.
    CHECK(portal.kernel.send(header, "12345").entry == &portal.shorts);
    portal.list.remove(receive.entry);
    portal.list.remove(truncated);
  }
}

TEST_CASE("a short message that the heap cannot hold takes the no-room link, and finds room for its header there") {
  ReceivePortal portal(512);
  const Header header = put(bits(1, 2, 3, 0), 300);
  // The long catch-all's criteria are checked on the way, and a short message's bits do not match them.
  CHECK(portal.kernel.send(header, std::string(300, 'x')).entry == &portal.shorts);
  CHECK(portal.kernel.send(header, std::string(300, 'x')).reason == DropReason::no_room);
  portal.list.remove(portal.longs);
  portal.longs.set({.ignore_bits = ~kReady}, portal.heap, {.save = Save::header});
  portal.list.append(portal.longs);
  const Verdict verdict = portal.kernel.send(header);
  CHECK(verdict.outcome == Outcome::drop);  // 512 bytes: room for one header and its body, and none for another header
  portal.heap.release(*portal.heap.first());
  portal.kernel.send(put(bits(1, 2, 3, 0), 100), std::string(100, 'x'));
  const Verdict header_only = portal.kernel.send(header);
  CHECK(header_only.entry == &portal.longs);
  CHECK(header_only.saved == Saved::header);
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
