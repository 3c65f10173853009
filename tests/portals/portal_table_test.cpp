// Tests of the portal table ("Each application is allotted a finite number of portals in a portal table"), and of the
// options of each descriptor type.
#include "portals/portal_table.hpp"

#include <doctest/doctest.h>

#include "tests/portals/portals_fixture.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/portal_table");

TEST_CASE("'a finite number of portals in a portal table'") {
  PortalTable table;
  SingleBlock block({nullptr, 0});
  MatchList list;
  for (unsigned index = 0; index < kPortalCount; ++index) {
    CHECK(table.attach(static_cast<PortalIndex>(index), block, {}).ok());
  }
  const Status past = table.attach(kPortalCount, block, {});
  CHECK_FALSE(past.ok());
  CHECK(past.sentence() == "portal 64 is not in the portal table, which has portals 0 to 63; choose one of those");
  CHECK_FALSE(table.attach(kPortalCount, list).ok());
  CHECK_FALSE(table.attach(kNoPortal, list).ok());
}

TEST_CASE("a portal in use is rejected until it is detached") {
  PortalTable table;
  SingleBlock block({nullptr, 0});
  MatchList list;
  REQUIRE(table.attach(3, list).ok());
  CHECK(table.attach(3, list).sentence() ==
        "portal 3 already has a memory descriptor or a match list; detach it first or choose another portal");
  CHECK_FALSE(table.attach(3, block, {}).ok());
  table.detach(3);
  CHECK(table.attach(3, block, {}).ok());
  CHECK_FALSE(table.attach(3, list).ok());
  table.detach(3);
  table.detach(3);
  CHECK(table.attach(3, list).ok());
}

TEST_CASE("attach rejects options that the type does not have, with a message that names the portal") {
  PortalTable table;
  Memory memory(64);
  DynamicBlock block(memory.buffer());
  const Status status = table.attach(5, block, {.offset_by = OffsetBy::sender});
  CHECK(status.sentence() ==
        "portal 5: a dynamic block places messages itself and has no sender-managed offset; choose OffsetBy::receiver");
  // The portal is not attached.
  CHECK(table.attach(5, block, {}).ok());
}

TEST_CASE("every option of every type, as the paper lists them") {
  for (const auto type : {DescriptorType::single_block, DescriptorType::dynamic_block,
                          DescriptorType::independent_block, DescriptorType::combined_block}) {
    for (const Save save : {Save::header, Save::body, Save::both}) {
      for (const OffsetBy offset_by : {OffsetBy::sender, OffsetBy::receiver}) {
        for (const Direction direction : {Direction::write_only, Direction::read_only}) {
          for (const bool acknowledge : {false, true}) {
            CAPTURE(name(type));
            CAPTURE(static_cast<int>(save));
            CAPTURE(static_cast<int>(offset_by));
            CAPTURE(static_cast<int>(direction));
            const Options options{save, offset_by, direction, acknowledge};
            bool legal = true;
            switch (type) {
              case DescriptorType::single_block:
                // "Sender or receiver managed offset; Save message header only, save message body only or save both;
                // Read only or write only; Acknowledge sender"
                break;
              case DescriptorType::dynamic_block:
                // "Save message header only or save both header and body; Acknowledge sender"
                legal = save != Save::body && offset_by == OffsetBy::receiver && direction == Direction::write_only;
                break;
              case DescriptorType::independent_block:
                // "Circular or linear; Save message header only or save both; Acknowledge sender; Read only or write
                // only"
                legal = save != Save::body && offset_by == OffsetBy::receiver;
                break;
              case DescriptorType::combined_block:
                // "Sender or receiver managed offset; Read only or write only; Acknowledge sender"
                legal = save != Save::header;
                break;
            }
            const Status status = check_options(type, options);
            CHECK(status.ok() == legal);
            if (!legal) CHECK(status.sentence().find("choose") != std::string::npos);
          }
        }
      }
    }
  }
}

TEST_CASE("truncating, an option of margay's own, is valid for an independent block only") {
  for (const auto type : {DescriptorType::single_block, DescriptorType::dynamic_block,
                          DescriptorType::independent_block, DescriptorType::combined_block}) {
    const Status status = check_options(type, {.truncate = true});
    CHECK(status.ok() == (type == DescriptorType::independent_block));
    if (!status.ok()) CHECK(status.sentence().find("choose") != std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
