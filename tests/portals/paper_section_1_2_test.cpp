// Tests of the paper's sentences about portals, section 1.2, at least one for each: tables, lists and descriptors. A
// test's name quotes the words that it tests. paper_section_1_2_options_test.cpp has overlays, acknowledgments and
// offsets.
#include <doctest/doctest.h>

#include "portals/deliver.hpp"
#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/paper_section_1_2");

TEST_CASE("'structures that inform the kernel how and where incoming messages should be deposited'") {
  Kernel kernel;
  Receive receive(64);
  receive.entry.set({.match_bits = 5}, receive.block, {});
  MatchList list;
  list.append(receive.entry);
  REQUIRE(kernel.table.attach(kPortal, list).ok());

  const Header header = put(5, 5, {7, 8});
  const Verdict verdict = kernel.send(header, "hello");

  CHECK(verdict.outcome == Outcome::deposit);
  CHECK(verdict.reason == DropReason::none);
  CHECK(verdict.entry == &receive.entry);
  CHECK(verdict.descriptor == &receive.block);
  CHECK(verdict.saved == Saved::both);
  CHECK(receive.memory.text().substr(0, 5) == "hello");
  CHECK(receive.rows[0].header == header);
  CHECK(receive.rows[0].bytes == 5);
  CHECK(receive.rows[0].state == IndependentBuffer::State::filled);
  CHECK(receive.block.bytes() == 5);
  CHECK(receive.block.messages() == 1);
  CHECK(kernel.changed.take() == &receive.block);
  CHECK(kernel.changed.take() == nullptr);
  // The only buffer is used.
  CHECK(kernel.send(5, "again").reason == DropReason::no_room);
}

TEST_CASE("'each entry in the portal table has an associated memory descriptor'") {
  Kernel kernel;
  Memory first(16);
  Memory second(16);
  SingleBlock one(first.buffer());
  SingleBlock two(second.buffer());
  REQUIRE(kernel.table.attach(0, one, {}).ok());
  REQUIRE(kernel.table.attach(63, two, {}).ok());
  Header header = put(0, 2);

  header.portal = 63;
  CHECK(kernel.send(header, "zz").descriptor == &two);
  header.portal = 0;
  CHECK(kernel.send(header, "aa").descriptor == &one);

  CHECK(first.text().substr(0, 2) == "aa");
  CHECK(second.text().substr(0, 2) == "zz");
  // A portal without memory, and a portal outside the finite table.
  header.portal = 5;
  CHECK(kernel.send(header).reason == DropReason::no_such_portal);
  header.portal = kPortalCount;
  CHECK(kernel.send(header).reason == DropReason::no_such_portal);
  header.portal = kNoPortal;
  CHECK(kernel.send(header).reason == DropReason::no_such_portal);
  std::vector<Step> steps;
  CHECK(kernel.delivery.explain(header, steps) == Outcome::drop);
  CHECK(steps.empty());
}

TEST_CASE("'Messages destined for a particular portal table entry are deposited according to the type'") {
  // The same three messages, four types: into one region, into a heap, one buffer each, and across buffers.
  Memory memory(24);
  Memory heap_memory(4096);
  std::array<Buffer, 2> pieces = {Buffer{memory.data(), 5}, Buffer{memory.data() + 12, 12}};
  std::array<IndependentBuffer, 3> rows;
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row].memory = Region(memory.data() + row * 8, 8);
  SingleBlock single(memory.buffer());
  DynamicBlock dynamic(heap_memory.buffer());
  IndependentBlock independent(rows, Progression::linear);
  CombinedBlock combined(pieces);
  const auto send_three = [&](Descriptor& descriptor) {
    Kernel kernel;
    REQUIRE(kernel.table.attach(kPortal, descriptor, {}).ok());
    for (const char* body : {"abc", "def", "ghi"}) {
      std::fill_n(heap_memory.data(), 0, std::byte{0});
      REQUIRE(kernel.send(0, body).outcome == Outcome::deposit);
    }
    CHECK(descriptor.messages() == 3);
    CHECK(descriptor.bytes() == 9);
  };
  const auto clear = [&] { std::fill_n(memory.data(), 24, std::byte{'.'}); };

  clear();
  send_three(single);
  CHECK(memory.text() == "abcdefghi...............");
  clear();
  send_three(independent);
  CHECK(memory.text() == "abc.....def.....ghi.....");
  clear();
  send_three(combined);
  CHECK(memory.text() == "abcde.......fghi........");
  send_three(dynamic);
  const ArrivedMessage* message = dynamic.first();
  for (const char* body : {"abc", "def", "ghi"}) {
    CHECK(text(Region(message->body)) == body);
    message = dynamic.next(*message);
  }
  CHECK(message == nullptr);
}

TEST_CASE("'matching lists may be attached to a portal table entry in order to provide further selection criteria'") {
  Kernel kernel;
  Memory memory(16);
  SingleBlock block(memory.buffer());
  MatchEntry entry({.match_bits = 1}, block, {});
  MatchList list;
  list.append(entry);
  REQUIRE(kernel.table.attach(kPortal, list).ok());
  CHECK(kernel.send(1, "a").outcome == Outcome::deposit);
  CHECK(kernel.send(2, "a").reason == DropReason::no_match);
}

TEST_CASE("'64 match bits and 64 ignore bits ... can be used to mask off insignificant match bits'") {
  Kernel kernel;
  Memory memory(256);
  SingleBlock block(memory.buffer());
  MatchList list;
  REQUIRE(kernel.table.attach(kPortal, list).ok());
  for (unsigned bit = 0; bit < 64; ++bit) {
    CAPTURE(bit);
    const MatchBits one = MatchBits{1} << bit;
    const MatchBits wanted = 0x0123'4567'89ab'cdef;
    MatchEntry exact({.match_bits = wanted}, block, {});
    list.append(exact);
    CHECK(kernel.send(wanted, "").entry == &exact);
    CHECK(kernel.send(wanted ^ one, "").reason == DropReason::no_match);
    list.remove(exact);
    MatchEntry lax({.match_bits = wanted, .ignore_bits = one}, block, {});
    list.append(lax);
    CHECK(kernel.send(wanted, "").entry == &lax);
    CHECK(kernel.send(wanted ^ one, "").entry == &lax);
    CHECK(kernel.send(wanted ^ (MatchBits{1} << ((bit + 1) % 64)), "").reason == DropReason::no_match);
    list.remove(lax);
  }
}

TEST_CASE("'may be deposited anywhere within this single contiguous region'") {
  Kernel kernel;
  Memory memory(8);
  SingleBlock block(memory.buffer());
  REQUIRE(kernel.table.attach(kPortal, block, {.offset_by = OffsetBy::sender}).ok());
  for (std::uint64_t offset = 0; offset < 8; ++offset) {
    Header header = put(0, 1);
    header.offset = offset;
    const std::string letter(1, static_cast<char>('a' + offset));
    CHECK(kernel.send(header, letter).offset == offset);
  }
  CHECK(memory.text() == "abcdefgh");
}

TEST_CASE("'maintains a list of free memory blocks and a list of messages that have arrived'") {
  Memory memory(4096);
  DynamicBlock block(memory.buffer());
  Kernel kernel;
  REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
  CHECK(block.queued() == 0);
  CHECK(block.used_bytes() == 0);
  kernel.send(1, "one");
  CHECK(block.queued() == 1);
  CHECK(block.used_bytes() >= sizeof(ArrivedMessage) + 3);
  block.release(*block.first());
  CHECK(block.queued() == 0);
  CHECK(block.used_bytes() == 0);
}

TEST_CASE(
    "'deposited in the first available space within this heap, and ... added to the end of an incoming message "
    "queue'") {
  Memory memory(4096);
  DynamicBlock block(memory.buffer());
  Kernel kernel;
  REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
  ArrivedMessage* const a = kernel.send(1, "aaaa").message;
  ArrivedMessage* const b = kernel.send(2, "bbbb").message;
  ArrivedMessage* const c = kernel.send(3, "cccc").message;
  CHECK(a->body.base < b->body.base);
  CHECK(b->body.base < c->body.base);
  std::byte* const first_space = a->body.base;
  block.release(*a);
  ArrivedMessage* const d = kernel.send(4, "dddd").message;
  // It is the first in the heap, and the last in the queue.
  CHECK(d->body.base == first_space);
  CHECK(block.first() == b);
  CHECK(block.next(*b) == c);
  CHECK(block.next(*c) == d);
  CHECK(block.next(*d) == nullptr);
}

TEST_CASE("'deposited in the first available buffer in the buffer descriptor table'") {
  Kernel kernel;
  Memory memory(32);
  std::array<IndependentBuffer, 3> rows;
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row].memory = Region(memory.data() + 8 * (2 - row), 8);
  rows[0].state = IndependentBuffer::State::filled;
  IndependentBlock block(rows, Progression::linear);
  REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
  CHECK(kernel.send(0, "one").row == 1);
  CHECK(kernel.send(0, "two").row == 2);
  CHECK(text(rows[1].memory.slice(0, 3)) == "one");
  CHECK(text(rows[2].memory.slice(0, 3)) == "two");
}

TEST_CASE(
    "'a message destined for this descriptor will keep filling successive buffers ... until reception is complete'") {
  Kernel kernel;
  Memory memory(64);
  std::fill_n(memory.data(), 64, std::byte{'.'});
  std::array<Buffer, 4> pieces = {Buffer{memory.data() + 20, 3}, Buffer{memory.data(), 0},
                                  Buffer{memory.data() + 10, 4}, Buffer{memory.data() + 2, 6}};
  CombinedBlock block(pieces);
  REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
  CHECK(kernel.send(0, "abcdefghijk").outcome == Outcome::deposit);
  CHECK(memory.text().substr(0, 24) == "..hijk....defg......abc.");
  // The next message begins where this one ended.
  CHECK(kernel.send(0, "lm").outcome == Outcome::deposit);
  CHECK(memory.text().substr(0, 24) == "..hijklm..defg......abc.");
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
