// Tests of DecisionLog alone, with walks and verdicts that the test makes: the copied fields, and the number of kept
// decisions. tests/sim/program/decision_log_test.cpp tests the log of a real kernel.
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <vector>

#include "portals/match/match_list.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/dynamic_block.hpp"
#include "portals/memory/independent_block.hpp"
#include "sim/kernel/decision_log.hpp"

namespace margay::sim::test {
namespace {

constexpr std::size_t kBlockBytes = 64;

portals::Header with_bits(portals::MatchBits bits) {
  portals::Header header;
  header.match_bits = bits;
  return header;
}

// Records a walk and then a decision, in the kernel's order. Returns the header.
portals::Header note(DecisionLog& log, portals::MatchBits bits, const portals::Verdict& verdict = {}) {
  const portals::Header header = with_bits(bits);
  log.record_walk(header, {});
  log.record_decision(header, bits, WireId::self, verdict, false);
  return header;
}

// Logs a walk of one step, and returns its stop.
Stop stop_at(const portals::MatchEntry& entry, portals::Passed passed, const portals::Header& header = {}) {
  DecisionLog log;
  log.keep(1);
  const std::array<portals::Step, 1> steps{portals::Step{&entry, passed}};
  log.record_walk(header, steps);
  log.record_decision(header, 1, WireId::self, {}, false);
  const std::optional<Decision> decision = log.take();
  REQUIRE_EQ(decision->stops.size(), 1);
  return decision->stops[0];
}

TEST_CASE("decision log: it records nothing until keep() is called") {
  DecisionLog log;
  CHECK_FALSE(log.on());
  CHECK_FALSE(log.wants(with_bits(1)));
  CHECK_EQ(log.kept(), 0);
  CHECK_FALSE(log.take().has_value());
  log.keep(3);
  CHECK(log.on());
  CHECK(log.wants(with_bits(1)));
  log.keep(0);
  CHECK_FALSE(log.on());
  CHECK_FALSE(log.wants(with_bits(1)));
}

TEST_CASE("decision log: decisions of an excluded portal are not recorded, others are") {
  DecisionLog log;
  portals::Header header;
  header.portal = 7;
  log.leave_out(7);
  CHECK_FALSE(log.wants(header));
  log.keep(1);
  CHECK_FALSE(log.wants(header));
  header.portal = 8;
  CHECK(log.wants(header));
}

TEST_CASE("decision log: decisions are returned oldest first, and overwritten ones are counted") {
  DecisionLog log;
  log.keep(2);
  note(log, 1);
  note(log, 2);
  CHECK_EQ(log.missed(), 0);
  CHECK_EQ(log.take()->header.match_bits, 1);
  note(log, 3);
  CHECK_EQ(log.missed(), 0);
  note(log, 4);
  CHECK_EQ(log.missed(), 1);
  CHECK_EQ(log.kept(), 2);
  CHECK_EQ(log.take()->header.match_bits, 3);
  CHECK_EQ(log.take()->header.match_bits, 4);
  CHECK_FALSE(log.take().has_value());
  CHECK_EQ(log.kept(), 0);
}

TEST_CASE("decision log: a smaller limit drops the oldest, and a limit of 0 discards all and the count") {
  DecisionLog log;
  log.keep(4);
  for (portals::MatchBits bits = 1; bits <= 5; ++bits) note(log, bits);
  log.keep(2);
  CHECK_EQ(log.kept(), 2);
  CHECK_EQ(log.missed(), 1);
  CHECK_EQ(log.take()->header.match_bits, 4);
  log.keep(3);
  note(log, 6);
  CHECK_EQ(log.kept(), 2);
  log.keep(0);
  CHECK_EQ(log.kept(), 0);
  CHECK_EQ(log.missed(), 0);
}

TEST_CASE("decision log: a decision contains all data of the verdict") {
  DecisionLog log;
  log.keep(1);
  std::array<std::byte, kBlockBytes> memory{};
  std::array<portals::IndependentBuffer, 1> rows;
  portals::IndependentBlock block(rows, portals::Progression::linear);
  portals::Verdict verdict;
  verdict.outcome = portals::Outcome::deposit;
  verdict.reason = portals::DropReason::too_small;
  verdict.saved = portals::Saved::body;
  verdict.acknowledge = true;
  verdict.descriptor = &block;
  verdict.landing = portals::Region(memory.data(), 12);
  verdict.offset = 34;
  verdict.row = 5;
  portals::Header header = with_bits(9);
  header.user_data[3] = std::byte{8};
  log.record_decision(header, 77, WireId::tcp, verdict, true);
  const std::optional<Decision> decision = log.take();
  CHECK_EQ(decision->header, header);
  CHECK_EQ(decision->sequence, 77);
  CHECK(decision->wire == WireId::tcp);
  CHECK(decision->outcome == portals::Outcome::deposit);
  CHECK(decision->reason == portals::DropReason::too_small);
  CHECK(decision->held);
  CHECK(decision->saved == portals::Saved::body);
  CHECK(decision->acknowledge);
  CHECK(decision->type == portals::DescriptorType::independent_block);
  CHECK_EQ(decision->offset, 34);
  CHECK_EQ(decision->bytes, 12);
  CHECK_EQ(decision->row, 5);
  CHECK(decision->stops.empty());
}

TEST_CASE("decision log: a drop has no descriptor and is not held unless that was set") {
  DecisionLog log;
  log.keep(1);
  note(log, 1);
  const std::optional<Decision> decision = log.take();
  CHECK(decision->outcome == portals::Outcome::drop);
  CHECK_FALSE(decision->held);
  CHECK_FALSE(decision->acknowledge);
  CHECK_EQ(decision->bytes, 0);
}

TEST_CASE("decision log: the stops are those of the last walk, and of one decision only") {
  DecisionLog log;
  log.keep(2);
  std::array<std::byte, kBlockBytes> memory{};
  portals::SingleBlock block(portals::Buffer{memory.data(), memory.size()});
  portals::MatchEntry first({.match_bits = 1}, block, {});
  portals::MatchEntry second({.match_bits = 2}, block, {});
  const std::array<portals::Step, 1> given_up{portals::Step{&first, portals::Passed::no_room}};
  const std::array<portals::Step, 2> steps{portals::Step{&second, portals::Passed::inactive},
                                           portals::Step{&first, portals::Passed::taken}};
  log.record_walk({}, given_up);  // a held message that was not reported again
  log.record_walk({}, steps);
  log.record_decision({}, 1, WireId::self, {}, false);
  log.record_decision({}, 2, WireId::self, {}, false);
  const std::optional<Decision> walked = log.take();
  REQUIRE_EQ(walked->stops.size(), 2);
  CHECK(walked->stops[0].entry == &second);
  CHECK(walked->stops[0].passed == portals::Passed::inactive);
  CHECK_EQ(walked->stops[0].criteria.match_bits, 2);
  CHECK(walked->stops[1].entry == &first);
  CHECK(walked->stops[1].passed == portals::Passed::taken);
  CHECK_EQ(walked->stops[1].criteria.match_bits, 1);
  CHECK(log.take()->stops.empty());
}

TEST_CASE("decision log: a stop is a copy, which outlives its entry and its memory") {
  DecisionLog log;
  log.keep(1);
  {
    std::array<std::byte, kBlockBytes> memory{};
    portals::SingleBlock block(portals::Buffer{memory.data(), memory.size()});
    portals::MatchEntry entry({.match_bits = 0xab, .ignore_bits = 0xf, .source_rank = 2}, block, {});
    const std::array<portals::Step, 1> steps{portals::Step{&entry, portals::Passed::no_match}};
    log.record_walk({}, steps);
    log.record_decision({}, 1, WireId::self, {}, false);
  }
  const std::optional<Decision> decision = log.take();
  REQUIRE_EQ(decision->stops.size(), 1);
  const Stop& stop = decision->stops[0];
  CHECK_EQ(stop.criteria.match_bits, 0xab);
  CHECK_EQ(stop.criteria.ignore_bits, 0xf);
  CHECK_EQ(stop.criteria.source_rank, 2);
  CHECK(stop.type == portals::DescriptorType::single_block);
  CHECK(stop.room_bytes == kBlockBytes);
}

TEST_CASE("decision log: the link of a stop is the one that the walk followed") {
  std::array<std::byte, kBlockBytes> memory{};
  portals::SingleBlock block(portals::Buffer{memory.data(), memory.size()});
  portals::MatchEntry a, b;
  portals::MatchEntry entry({}, block, {}, {portals::Link::at(a), portals::Link::drop(), portals::Link::at(b)});
  CHECK(stop_at(entry, portals::Passed::no_match).link.entry == &a);
  CHECK(stop_at(entry, portals::Passed::inactive).link.entry == &a);
  CHECK(stop_at(entry, portals::Passed::no_room).link.to == portals::Link::To::drop);
  CHECK(stop_at(entry, portals::Passed::too_small).link.entry == &b);
}

TEST_CASE("decision log: room is the number of bytes behind the message's offset, the sender's or the block's") {
  std::array<std::byte, kBlockBytes> memory{};
  const std::array<portals::Buffer, 2> pieces{portals::Buffer{memory.data(), 24}, portals::Buffer{&memory[40], 24}};
  portals::SingleBlock single(portals::Buffer{memory.data(), memory.size()});
  portals::CombinedBlock combined{std::span<const portals::Buffer>(pieces)};
  portals::Options by_sender;
  by_sender.offset_by = portals::OffsetBy::sender;
  portals::Options by_receiver;
  portals::Header header;
  for (const bool pieced : {false, true}) {
    CAPTURE(pieced);
    portals::Descriptor& block = pieced ? static_cast<portals::Descriptor&>(combined) : single;
    const std::uint64_t bytes = pieced ? 48 : kBlockBytes;
    portals::MatchEntry sender({}, block, by_sender);
    portals::MatchEntry receiver({}, block, by_receiver);
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{10}, bytes}) {
      header.offset = offset;
      CHECK(stop_at(sender, portals::Passed::no_room, header).room_bytes == bytes - offset);
      CHECK(stop_at(receiver, portals::Passed::no_room, header).room_bytes == bytes);
    }
    // Expect: an offset behind the end leaves no room, and does not wrap.
    for (const std::uint64_t offset : {bytes + 1, ~std::uint64_t{0}}) {
      header.offset = offset;
      CHECK(stop_at(sender, portals::Passed::offset_out_of_range, header).room_bytes == 0U);
    }
  }
}

TEST_CASE("decision log: used bytes do not count as room") {
  std::array<std::byte, kBlockBytes> memory{};
  portals::SingleBlock single(portals::Buffer{memory.data(), memory.size()});
  portals::CombinedBlock combined(portals::Region(memory.data(), memory.size()));
  portals::PortalTable table;
  portals::ChangedList changed;
  portals::Delivery delivery(table, changed);
  REQUIRE(table.attach(1, single, {}).ok());
  REQUIRE(table.attach(2, combined, {}).ok());
  portals::Header header;
  header.length = 20;
  for (const portals::PortalIndex portal : {portals::PortalIndex{1}, portals::PortalIndex{2}}) {
    header.portal = portal;
    delivery.complete(delivery.decide(header), header);
    DecisionLog log;
    log.keep(1);
    std::vector<portals::Step> steps;
    CHECK(delivery.explain(header, steps) == portals::Outcome::deposit);
    log.record_walk(header, steps);
    log.record_decision(header, 2, WireId::self, {}, false);
    const std::optional<Decision> decision = log.take();
    REQUIRE_EQ(decision->stops.size(), 1);
    // Expect: the portal's own descriptor, without an entry.
    CHECK(decision->stops[0].entry == nullptr);
    CHECK(decision->stops[0].type ==
          (portal == 1 ? portals::DescriptorType::single_block : portals::DescriptorType::combined_block));
    CHECK(decision->stops[0].room_bytes == kBlockBytes - 20);
  }
}

TEST_CASE("decision log: the room of a heap or of a row of buffers is not a single number") {
  alignas(64) std::array<std::byte, 1024> heap{};
  portals::DynamicBlock dynamic(portals::Buffer{heap.data(), heap.size()});
  std::array<portals::IndependentBuffer, 1> rows;
  portals::IndependentBlock independent(rows, portals::Progression::linear);
  const Stop of_heap = stop_at(portals::MatchEntry({}, dynamic, {}), portals::Passed::no_room);
  CHECK(of_heap.type == portals::DescriptorType::dynamic_block);
  CHECK_FALSE(of_heap.room_bytes.has_value());
  const Stop of_rows = stop_at(portals::MatchEntry({}, independent, {}), portals::Passed::no_room);
  CHECK(of_rows.type == portals::DescriptorType::independent_block);
  CHECK_FALSE(of_rows.room_bytes.has_value());
}

}  // namespace
}  // namespace margay::sim::test
