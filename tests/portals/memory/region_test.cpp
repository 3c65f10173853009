#include "portals/base/region.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/portals/portals_fixture.hpp"
#include "tests/portals/random.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/base/region");

TEST_CASE("an empty region has no bytes") {
  const Region region;
  CHECK(region.bytes() == 0);
  CHECK(region.contiguous());
  CHECK(region.slice(0, 0).bytes() == 0);
  CHECK(Region(std::span<const Buffer>()).bytes() == 0);
  RegionCursor cursor(region);
  CHECK(cursor.left() == 0);
  CHECK(cursor.peek(10).bytes == 0);
  cursor.write({});
  cursor.skip(0);
}

TEST_CASE("a table of one piece is contiguous, and so is a slice within one piece of many") {
  Memory memory(16);
  const std::array<Buffer, 1> one = {memory.buffer()};
  CHECK(Region(one).contiguous());
  const std::array<Buffer, 2> two = {Buffer{memory.data(), 8}, Buffer{memory.data() + 8, 8}};
  const Region region(two);
  CHECK_FALSE(region.contiguous());
  CHECK(region.slice(2, 6).contiguous());
  CHECK(region.slice(8, 8).single().base == memory.data() + 8);
  CHECK_FALSE(region.slice(7, 2).contiguous());
}

TEST_CASE("peek returns the next piece and does not advance") {
  Memory memory(16);
  const std::array<Buffer, 3> table = {Buffer{memory.data(), 3}, Buffer{nullptr, 0}, Buffer{memory.data() + 8, 4}};
  RegionCursor cursor{Region(table)};
  CHECK(cursor.peek(100).bytes == 3);
  CHECK(cursor.peek(2).bytes == 2);
  CHECK(cursor.peek(100).base == memory.data());
  cursor.skip(3);
  CHECK(cursor.peek(100).base == memory.data() + 8);
  cursor.skip(1);
  CHECK(cursor.peek(100).base == memory.data() + 9);
  CHECK(cursor.left() == 3);
  cursor.skip(3);
  CHECK(cursor.peek(100).bytes == 0);
}

TEST_CASE("random regions, slices of slices and parts agree with one flat copy") {
  Random random(3);
  for (std::uint64_t round = 0; round < 20000 / kFewer; ++round) {
    CAPTURE(round);
    Memory memory(256);
    std::vector<Buffer> table;
    std::size_t at = 0;
    while (table.size() < 8 && at < 200) {
      const std::size_t bytes = random.below(4) == 0 ? 0 : random.below(24);
      table.push_back({memory.data() + at, bytes});
      at += bytes + random.below(5);
    }
    std::reverse(table.begin(), table.end());
    Region region(table);
    std::vector<std::byte*> flat;
    for (const Buffer& piece : table) {
      for (std::size_t byte = 0; byte < piece.bytes; ++byte) flat.push_back(piece.base + byte);
    }
    REQUIRE(region.bytes() == flat.size());
    for (int deeper = 0; deeper < 3; ++deeper) {
      const std::uint64_t offset = random.below(flat.size() + 1);
      const std::uint64_t length = random.below(flat.size() - offset + 1);
      region = region.slice(offset, length);
      flat.erase(flat.begin(), flat.begin() + static_cast<std::ptrdiff_t>(offset));
      flat.resize(length);
      REQUIRE(region.bytes() == length);
      RegionCursor writer(region);
      RegionCursor reader(region);
      std::size_t done = 0;
      std::uint8_t value = 0;
      while (done < length) {
        const std::size_t part = std::min<std::size_t>(1 + random.below(20), length - done);
        std::vector<std::byte> bytes(part);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(++value);
        writer.write(bytes);
        for (std::size_t byte = 0; byte < part; ++byte) REQUIRE(*flat[done + byte] == bytes[byte]);
        if (random.percent(30)) {
          reader.skip(part);
        } else {
          std::vector<std::byte> back(part);
          reader.read(back);
          REQUIRE(back == bytes);
        }
        done += part;
        REQUIRE(writer.left() == length - done);
      }
    }
  }
}

TEST_CASE("copy fills the target from its beginning, with pieces on either side, and does not change the rest") {
  Random random(9);
  const auto pieces = [&](Memory& memory) {
    std::vector<Buffer> table;
    std::size_t at = 0;
    for (std::uint64_t piece = random.below(5); piece > 0; --piece) {
      const std::size_t bytes = random.below(12);
      table.push_back({memory.data() + at, bytes});
      at += bytes + random.below(3);
    }
    return table;
  };
  for (std::uint64_t round = 0; round < 5000 / kFewer; ++round) {
    Memory from(96);
    Memory to(96);
    for (std::size_t byte = 0; byte < 96; ++byte) from.data()[byte] = static_cast<std::byte>('A' + byte % 50);
    std::fill_n(to.data(), 96, std::byte{'.'});
    const std::vector<Buffer> source_table = pieces(from);
    const std::vector<Buffer> target_table = pieces(to);
    const Region target(target_table);
    const Region whole(source_table);
    const Region source = whole.slice(0, std::min(whole.bytes(), target.bytes()));
    copy(target, source);
    REQUIRE(text(target) == text(source) + std::string(target.bytes() - source.bytes(), '.'));
  }
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
