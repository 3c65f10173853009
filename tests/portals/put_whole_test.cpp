// Tests of put_whole() against decide(), the copy and complete(), on random lists: if it takes a message, the result is
// theirs; otherwise nothing has changed.
#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "tests/portals/portals_fixture.hpp"
#include "tests/portals/random.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/deliver");

namespace {

constexpr std::size_t kBlocks = 6;
constexpr std::size_t kRowBytes = 16;

// Two worlds with one seed are equal.
struct Twin {
  explicit Twin(std::uint64_t seed) {
    Random random(seed);
    REQUIRE(kernel.table.attach(kPortal, list).ok());
    for (std::size_t at = 0; at < kBlocks; ++at) make_block(random);
    for (std::size_t at = 0; at < 12; ++at) make_entry(random);
  }

  void make_block(Random& random) {
    auto& rows = tables.emplace_back(1 + random.below(2));
    for (IndependentBuffer& row : rows) {
      std::byte* const base = memory.data() + next_byte;
      next_byte += kRowBytes;
      if (random.percent(80)) {
        row.memory = Region(base, 8 + random.below(9));
      } else {
        auto& two = pieces.emplace_back(std::array<Buffer, 2>{Buffer{base, 6}, Buffer{base + 8, 6}});
        row.memory = Region(std::span<const Buffer>(two));
      }
    }
    blocks.emplace_back(rows, random.percent(80) ? Progression::circular : Progression::linear);
  }

  void make_entry(Random& random) {
    MatchEntry& entry = *entries.emplace_back(std::make_unique<MatchEntry>());
    Criteria criteria;
    criteria.match_bits = random.below(3);
    criteria.ignore_bits = random.percent(30) ? ~MatchBits{0} : 0;
    if (random.percent(30)) criteria.source_rank = static_cast<Rank>(random.below(2));
    Options options;
    options.acknowledge = random.percent(50);
    if (random.percent(10)) options.save = Save::header;
    if (random.percent(10)) options.direction = Direction::read_only;
    Links links;
    if (random.percent(10)) links.no_match = random.percent(50) ? Link::drop() : Link::at(*entries.front());
    if (random.percent(20)) links.no_room = Link::drop();
    Descriptor* storage = &single;
    if (random.percent(90)) storage = &blocks[random.below(kBlocks)];
    entry.set(criteria, *storage, options, links);
    list.append(entry, random.percent(85) ? MatchList::Start::active : MatchList::Start::inactive);
  }

  // As the kernel delivers a message.
  Verdict general(const Header& header, const Region& body) {
    const Verdict verdict = kernel.delivery.decide(header);
    if (verdict.outcome == Outcome::drop) return verdict;
    if (verdict.outcome == Outcome::deposit && verdict.landing.bytes() != 0) copy(verdict.landing, body);
    kernel.delivery.complete(verdict, header);
    return verdict;
  }

  Memory memory{kBlocks * 2 * kRowBytes + 64};
  std::size_t next_byte = 0;
  std::deque<std::vector<IndependentBuffer>> tables;
  std::deque<std::array<Buffer, 2>> pieces;
  std::deque<IndependentBlock> blocks;
  SingleBlock single{Buffer{memory.data() + kBlocks * 2 * kRowBytes, 64}};
  std::vector<std::unique_ptr<MatchEntry>> entries;
  Kernel kernel;
  MatchList list;
};

void check_alike(Twin& a, Twin& b) {
  REQUIRE(a.memory.text() == b.memory.text());
  REQUIRE(a.single.messages() == b.single.messages());
  for (std::size_t at = 0; at < kBlocks; ++at) {
    REQUIRE(a.blocks[at].messages() == b.blocks[at].messages());
    REQUIRE(a.blocks[at].bytes() == b.blocks[at].bytes());
    REQUIRE(a.blocks[at].exhausted() == b.blocks[at].exhausted());
    for (std::size_t row = 0; row < a.tables[at].size(); ++row) {
      const IndependentBuffer& ours = a.tables[at][row];
      const IndependentBuffer& theirs = b.tables[at][row];
      REQUIRE(ours.state == theirs.state);
      if (ours.state != IndependentBuffer::State::filled) continue;
      REQUIRE(ours.header == theirs.header);
      REQUIRE(ours.bytes == theirs.bytes);
    }
  }
}

// The index of a changed descriptor in its world; -1: none, kBlocks: the single block.
int taken_from(Twin& twin) {
  Descriptor* const changed = twin.kernel.changed.take();
  if (changed == nullptr) return -1;
  for (std::size_t at = 0; at < kBlocks; ++at) {
    if (changed == &twin.blocks[at]) return static_cast<int>(at);
  }
  return static_cast<int>(kBlocks);
}

Header any_header(Random& random, std::uint64_t length) {
  Header header = put(random.below(3), length, {0, static_cast<Rank>(random.below(2))});
  if (random.percent(5)) header.portal = kPortal + 1;
  if (random.percent(10)) header.return_portal = kPortal;
  if (random.percent(5)) header.kind = Kind::reply;
  header.user_data[3] = static_cast<std::byte>(random.below(256));
  return header;
}

}  // namespace

TEST_CASE("put_whole does what decide, copy and complete do, or nothing") {
  std::uint64_t taken = 0;
  std::uint64_t sent = 0;
  for (std::uint64_t seed = 1; seed <= 2000 / kFewer; ++seed) {
    CAPTURE(seed);
    Twin a(seed);
    Twin b(seed);
    Random random(seed + 1'000'000);
    for (int step = 0; step < 40; ++step) {
      std::array<std::byte, 32> bytes{};
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
      const std::uint64_t length = random.percent(70) ? random.below(9) : random.below(25);
      const std::array<Buffer, 2> halves{Buffer{bytes.data(), static_cast<std::size_t>(length / 2)},
                                         Buffer{bytes.data() + 12, static_cast<std::size_t>(length - length / 2)}};
      const Region body = random.percent(90) || length < 2 ? Region(bytes.data(), static_cast<std::size_t>(length))
                                                           : Region(std::span<const Buffer>(halves));
      const Header header = any_header(random, length);
      const Placed placed = a.kernel.delivery.put_whole(header, body);
      if (!placed) check_alike(a, b);
      const Verdict verdict = b.general(header, body);
      if (!placed) {
        static_cast<void>(a.general(header, body));
      } else {
        REQUIRE(verdict.outcome == Outcome::deposit);
        const Verdict reported = Delivery::verdict_of(placed, header);
        REQUIRE(reported.outcome == Outcome::deposit);
        REQUIRE(reported.visited == verdict.visited);
        REQUIRE(reported.saved == verdict.saved);
        REQUIRE(reported.row == verdict.row);
        REQUIRE(reported.offset == verdict.offset);
        REQUIRE(reported.landing.bytes() == verdict.landing.bytes());
        REQUIRE(reported.entry->order() == verdict.entry->order());
        REQUIRE(!verdict.acknowledge);
        REQUIRE(!reported.acknowledge);
      }
      taken += placed ? 1 : 0;
      ++sent;
      check_alike(a, b);
      if (random.percent(60)) {
        const int changed = taken_from(a);
        REQUIRE(changed == taken_from(b));
        if (changed < 0 || changed >= static_cast<int>(kBlocks)) continue;
        const auto at = static_cast<std::size_t>(changed);
        for (std::size_t row = 0; row < a.tables[at].size(); ++row) {
          if (a.tables[at][row].state != IndependentBuffer::State::filled || random.percent(20)) continue;
          a.blocks[at].release(row);
          b.blocks[at].release(row);
        }
      }
    }
  }
  // Otherwise the test compares nothing.
  CHECK(taken > sent / 10);
  CHECK(taken < sent);
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
