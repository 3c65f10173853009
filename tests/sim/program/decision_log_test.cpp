// Tests of the log of decisions, and of its text, with a real kernel that sends to itself.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "portals/match/match_list.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/independent_block.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/program/explain.hpp"
#include "sim/wire/self_wire.hpp"

using namespace margay::sim;
using namespace margay::portals;

namespace {

constexpr PortalIndex kPortal = 4;

struct Alone {
  void put(std::uint64_t length, MatchBits bits = 0, PortalIndex portal = kPortal) {
    Header header;
    header.portal = portal;
    header.length = length;
    header.match_bits = bits;
    REQUIRE(kernel.try_send(header, Region(outgoing.data(), length)));
    run();
  }
  void run() {
    for (int i = 0; i < 10; ++i) kernel.progress();
  }
  std::string text() {
    const std::optional<Decision> decision = kernel.target().decisions().take();
    return decision ? explain(*decision, names) : "nothing";
  }

  const RealClock clock;
  Recorder recorder{clock};
  TransmissionList finished;
  SelfWire wire{{0, 0}, finished};
  Kernel kernel{{0, 0}, {{&wire}}, finished, recorder};
  Names names;
  std::array<std::byte, 64> outgoing{};
  std::array<std::byte, 16> memory{};
  SingleBlock block{{memory.data(), memory.size()}};
};

}  // namespace

TEST_CASE("no decision is kept before a program requests it, or after it ends the request") {
  Alone alone;
  REQUIRE(alone.kernel.table().attach(kPortal, alone.block, {}).ok());
  alone.put(4);
  CHECK(alone.kernel.target().decisions().kept() == 0);
  alone.kernel.target().decisions().keep(10);
  alone.put(4);
  CHECK(alone.kernel.target().decisions().kept() == 1);
  alone.kernel.target().decisions().keep(0);
  CHECK(alone.kernel.target().decisions().kept() == 0);
  alone.put(4);
  CHECK(alone.text() == "nothing");
}

TEST_CASE("only the latest decisions are kept, oldest first, and missed ones are counted") {
  Alone alone;
  alone.kernel.target().decisions().keep(2);
  for (MatchBits bits = 1; bits <= 5; ++bits) alone.put(0, bits);
  CHECK(alone.kernel.target().decisions().missed() == 3);
  CHECK(alone.kernel.target().decisions().take()->header.match_bits == 4);
  CHECK(alone.kernel.target().decisions().take()->header.match_bits == 5);
  CHECK_FALSE(alone.kernel.target().decisions().take().has_value());
}

TEST_CASE("a portal can be excluded") {
  Alone alone;
  alone.kernel.target().decisions().keep(10);
  alone.kernel.target().decisions().leave_out(9);
  alone.put(0, 1, 9);
  alone.put(0, 2, 8);
  CHECK(alone.kernel.target().decisions().kept() == 1);
  CHECK(alone.kernel.target().decisions().take()->header.portal == 8);
}

TEST_CASE("the reported room is that before the message took it") {
  Alone alone;
  REQUIRE(alone.kernel.table().attach(kPortal, alone.block, {}).ok());
  alone.kernel.target().decisions().keep(10);
  alone.put(10);
  alone.put(10);
  const std::optional<Decision> first = alone.kernel.target().decisions().take();
  REQUIRE(first->stops.size() == 1);
  CHECK(first->stops[0].room_bytes == 16U);
  CHECK(alone.text() ==
        "put from rank 0 to portal 4, match bits 0x0, 10 bytes for offset 0\n"
        "  the portal's single block: too small, 10 bytes do not fit in 6\n"
        "  => dropped: too small\n");
}

TEST_CASE("a held message is reported when it is held and when it is taken, not in each round between") {
  Alone alone;
  REQUIRE(alone.kernel.table().attach(kPortal, alone.block, {}).ok());
  alone.kernel.target().hold_when_no_room(kPortal);
  alone.kernel.target().decisions().keep(100);
  alone.put(16);
  alone.put(8);
  alone.run();
  alone.block.reset_local_offset();
  alone.run();
  REQUIRE(alone.kernel.target().decisions().kept() == 3);
  static_cast<void>(alone.kernel.target().decisions().take());
  const std::optional<Decision> held = alone.kernel.target().decisions().take();
  CHECK(held->held);
  CHECK(held->reason == DropReason::no_room);
  const std::optional<Decision> taken = alone.kernel.target().decisions().take();
  CHECK_FALSE(taken->held);
  CHECK(taken->outcome == Outcome::deposit);
  CHECK(taken->sequence == held->sequence);
}

TEST_CASE("a walk is described entry by entry, with names, also after the entries are gone") {
  Alone alone;
  std::array<IndependentBuffer, 1> row{};
  row[0].memory = Region(alone.memory.data(), 4);
  IndependentBlock table(row, Progression::linear);
  alone.kernel.target().decisions().keep(10);
  {
    MatchEntry other({.match_bits = 0xf0, .ignore_bits = 0xf}, alone.block, {});
    MatchEntry stranger({.source_rank = 3}, alone.block, {});
    MatchEntry small({}, table, {}, {.too_small = Link::drop()});
    MatchList list;
    list.append(other);
    list.append(stranger);
    list.append(small);
    alone.names.set(other, "other");
    alone.names.set(small, "small");
    alone.names.set(kPortal, "inbox");
    REQUIRE(alone.kernel.table().attach(kPortal, list).ok());
    alone.put(5);
    alone.kernel.table().detach(kPortal);
  }
  CHECK(alone.text() ==
        "put from rank 0 to portal 4 (inbox), match bits 0x0, 5 bytes for offset 0\n"
        "  entry \"other\", a single block: no match, it accepts bits 0xf0 (ignoring 0xf) and 0xf0 differ; no-match "
        "link: "
        "next\n"
        "  an entry, a single block: no match, it accepts source rank 3 only; no-match link: next\n"
        "  entry \"small\", an independent block: too small, 5 bytes do not fit in the next buffer; too-small link: "
        "drop\n"
        "  => dropped: too small\n");
}
