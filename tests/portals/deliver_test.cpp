// The paper's sentences about portals, section 1.2, one test each: the sentence is the test's name.
#include "portals/deliver.hpp"

#include <doctest/doctest.h>

#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/deliver");

namespace {

// One posted receive as MPI makes it.
struct Receive {
  explicit Receive(std::size_t bytes) : memory(bytes) { rows[0].memory = Region(memory.buffer()); }
  Memory memory;
  std::array<IndependentBuffer, 1> rows;
  IndependentBlock block{rows, Progression::linear};
  MatchEntry entry;
};

}  // namespace

TEST_CASE("'structures that inform the kernel how and where incoming messages should be deposited'") {
  Kernel kernel;
  Receive receive(64);
  MatchList list;
  receive.entry.set({.match_bits = 5}, receive.block, {});
  list.append(receive.entry);
  REQUIRE(kernel.table.attach(kPortal, list).ok());

  const Header header = put(5, 5, {7, 8});
  const Verdict verdict = kernel.send(header, "hello");

  CHECK(verdict.outcome == Outcome::deposit);
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
  // The one buffer is used.
  CHECK(kernel.send(5, "again").reason == DropReason::no_room);
  list.remove(receive.entry);
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
