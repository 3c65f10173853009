// Tests of the combined block: "sender or receiver managed offset; read only or write only; acknowledge sender."
#include "portals/memory/block.hpp"

#include <doctest/doctest.h>

#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/memory/block");

namespace {

// Twelve bytes: 8..11, then 0..2, then 16..20.
struct Combined {
  explicit Combined(const Options& options) {
    std::fill_n(memory.data(), 24, std::byte{'.'});
    REQUIRE(kernel.table.attach(kPortal, block, options).ok());
  }
  Memory memory{24};
  std::array<Buffer, 3> pieces = {Buffer{memory.data() + 8, 4}, Buffer{memory.data(), 3},
                                  Buffer{memory.data() + 16, 5}};
  CombinedBlock block{pieces};
  Kernel kernel;
};

}  // namespace

TEST_CASE("'logically contiguous but possibly physically discontinuous'") {
  Combined combined({});
  CHECK(combined.block.memory().bytes() == 12);
  const Verdict verdict = combined.kernel.send(1, "abcdefghijkl");
  CHECK(verdict.saved == Saved::body);
  CHECK(combined.memory.text() == "efg.....abcd....hijkl...");
  CHECK(combined.block.bytes() == 12);
}

TEST_CASE("receiver-managed: messages follow each other across buffers") {
  Combined combined({.save = Save::body});
  CHECK(combined.kernel.send(1, "abc").offset == 0);
  CHECK(combined.kernel.send(1, "defgh").offset == 3);
  CHECK(combined.kernel.send(1, "too long").reason == DropReason::too_small);
  CHECK(combined.kernel.send(1, "ijkl").offset == 8);
  CHECK(combined.memory.text() == "efg.....abcd....hijkl...");
  CHECK(combined.kernel.send(1, "m").reason == DropReason::no_room);
  combined.block.reset_local_offset();
  CHECK(combined.kernel.send(1, "again").offset == 0);
  CHECK(combined.memory.text() == "nfg.....agai....hijkl...");
}

TEST_CASE("sender-managed: the offset is into the logical region") {
  Combined combined({.offset_by = OffsetBy::sender});
  Header header = put(1, 5);
  header.offset = 3;
  CHECK(combined.kernel.send(header, "ABCDE").offset == 3);
  CHECK(combined.memory.text() == "BCD........A....E.......");
  CHECK(combined.block.local_offset() == 0);
  header.offset = 8;
  CHECK(combined.kernel.send(header).reason == DropReason::too_small);
  header.offset = 13;
  CHECK(combined.kernel.send(header).reason == DropReason::offset_out_of_range);
}

TEST_CASE("read only: a get gathers from the buffers; a put is rejected") {
  Combined combined({.offset_by = OffsetBy::sender, .direction = Direction::read_only});
  std::memcpy(combined.memory.data(), "efg.....abcd....hijkl...", 24);
  const Verdict verdict = combined.kernel.send(get(0, 8, 2));
  CHECK(verdict.outcome == Outcome::reply);
  CHECK(verdict.saved == Saved::nothing);
  CHECK(text(verdict.landing) == "cdefghij");
  CHECK(combined.kernel.send(get(0, 8, 5)).reason == DropReason::too_small);
  CHECK(combined.kernel.send(1, "x").reason == DropReason::read_only);
  CHECK(combined.block.messages() == 1);
  CHECK(combined.block.bytes() == 8);
}

TEST_CASE("write only: a get is rejected") {
  Combined combined({});
  CHECK(combined.kernel.send(get(0, 1)).reason == DropReason::write_only);
}

TEST_CASE("acknowledge sender: only the body is saved") {
  Combined combined({.acknowledge = true});
  Header header = put(1, 2);
  header.return_portal = 1;
  const Verdict verdict = combined.kernel.send(header, "ab");
  CHECK(verdict.acknowledge);
  CHECK(verdict.saved == Saved::body);
}

TEST_CASE("abandon returns the last message's room") {
  Combined combined({});
  const Verdict verdict = combined.kernel.delivery.decide(put(1, 6));
  CHECK(combined.block.local_offset() == 6);
  combined.kernel.delivery.abandon(verdict);
  CHECK(combined.block.local_offset() == 0);
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
