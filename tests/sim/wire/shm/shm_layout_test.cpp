// Tests of the layout of a node's segment with fewer slots for long data: there are as many as fit, all processes that
// attach see the same number, and the parts lie within the segment without overlap.
#include "sim/wire/shm/shm_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/machine/mapping.hpp"

using namespace margay;
using namespace margay::sim;

namespace {

struct Part {
  const std::byte* begin;
  std::size_t bytes;
};

std::vector<Part> parts_of(const ShmLayout& layout) {
  std::vector<Part> parts;
  const auto add = [&](const auto* begin, std::size_t bytes) {
    parts.push_back({reinterpret_cast<const std::byte*>(begin), bytes});
  };
  for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
    add(&layout.area(rank), sizeof(RankArea));
    for (std::uint32_t to = 0; to < layout.ranks(); ++to) add(&layout.channel(rank, to), sizeof(ChannelData));
    for (std::uint32_t slot = 0; slot < kBarrierSlots; ++slot) {
      add(&layout.barrier(slot, rank), sizeof(SharedBarrierData));
      for (const unsigned side : {0U, 1U}) {
        add(layout.barrier_line(slot, rank, side), kCacheLineBytes);
        add(layout.barrier_part(slot, rank, side), kBarrierPartBytes);
      }
    }
    for (std::uint32_t slot = 0; slot < layout.long_slots(); ++slot) {
      add(&layout.posting_area(slot, rank), sizeof(PostingArea));
      for (const unsigned side : {0U, 1U}) add(layout.strip(slot, rank, side), kStripAreaBytes);
    }
  }
  std::ranges::sort(parts, {}, &Part::begin);
  return parts;
}

}  // namespace

TEST_CASE("a segment has as many long places as fit, and all its parts are disjoint") {
  for (const std::uint32_t ranks : {1U, 2U, 5U}) {
    for (const std::uint32_t slots : {0U, 1U, 3U, kLongSlots}) {
      for (const std::uint64_t more : {std::uint64_t{0}, std::uint64_t{kSegmentPageBytes}}) {
        CAPTURE(ranks);
        CAPTURE(slots);
        Mapping segment;
        REQUIRE(Mapping::anonymous(shm_segment_bytes(ranks, slots) + more, segment).ok());
        ShmLayout layout, again;
        REQUIRE(ShmLayout::attach(segment.bytes(), ranks, layout).ok());
        REQUIRE(ShmLayout::attach(segment.bytes(), ranks, again).ok());
        CHECK(layout.long_slots() == slots);
        CHECK(again.long_slots() == slots);
        const std::byte* end = segment.bytes().data() + sizeof(SegmentHeader);
        for (const Part& part : parts_of(layout)) {
          CHECK(part.begin >= end);
          end = part.begin + part.bytes;
        }
        CHECK(end <= segment.bytes().data() + segment.bytes().size());
      }
    }
  }
}

TEST_CASE("a segment that is too small, or has another number of long places, is rejected") {
  Mapping segment;
  REQUIRE(Mapping::anonymous(shm_segment_bytes(2, 1), segment).ok());
  ShmLayout layout;
  const auto seen = [&](std::uint64_t bytes) { return segment.bytes().first(bytes); };
  const std::uint64_t least = shm_segment_bytes(2, 0);
  CHECK(ShmLayout::attach(seen(least - kSegmentPageBytes), 2, layout).sentence().find("2 ranks need") !=
        std::string::npos);
  REQUIRE(ShmLayout::attach(segment.bytes(), 2, layout).ok());
  CHECK(ShmLayout::attach(seen(least), 2, layout).sentence().find("made with 1 slots for long data") !=
        std::string::npos);
}

TEST_CASE("a place is at rest when all members have left the slots of its communicators, but for that of its world") {
  constexpr std::uint32_t kMembers = 2, kEnded = 1, kSlot = 2;
  Mapping segment;
  REQUIRE(Mapping::anonymous(shm_segment_bytes(kMembers, kLongSlots), segment).ok());
  ShmLayout layout;
  REQUIRE(ShmLayout::attach(segment.bytes(), kMembers, layout).ok());
  CHECK(is_place_at_rest(layout, kEnded));

  SUBCASE("its postings are not yet cleared") {
    ProgressData& progress = layout.posting_area(kSlot, kEnded).progress;
    publish_done(progress, 7, false);
    CHECK(!is_place_at_rest(layout, kEnded));
    CHECK(is_place_at_rest(layout, 0));
    publish_done(progress, 0, false);
    CHECK(is_place_at_rest(layout, kEnded));
  }
  SUBCASE("a member has not left the barrier that it leads") {
    SharedBarrier barrier(layout.barrier(kSlot, kEnded), kMembers);
    for (std::uint32_t member = 0; member < kMembers; ++member) static_cast<void>(barrier.arrive(1, 0));
    CHECK(!is_place_at_rest(layout, kEnded));
    barrier.leave([] {});
    CHECK(!is_place_at_rest(layout, kEnded));
    barrier.leave([] {});
    CHECK(is_place_at_rest(layout, kEnded));
  }
  SUBCASE("nobody leaves the slot of the world, which is cleared") {
    SharedBarrier barrier(layout.barrier(kWorldSlot, kEnded), kMembers);
    static_cast<void>(barrier.arrive(1, 0));
    PostingArea& posted = layout.posting_area(kWorldSlot, kEnded);
    post(posted.postings.front(), 3);
    publish_done(posted.progress, 3, false);
    CHECK(is_place_at_rest(layout, kEnded));
    clear_place(layout, kEnded);
    CHECK(barrier.latest() == 0);
    CHECK(done_with(posted.progress) == 0);
    CHECK(!posted.postings.front().number);
  }
}
