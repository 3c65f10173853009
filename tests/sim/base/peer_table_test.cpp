// Tests of PeerTable: it behaves as if it had an element for each peer, but creates only those that were accessed.
#include "sim/base/peer_table.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace margay::sim {

TEST_CASE("peer table: an entry has the last written value, or the initial one") {
  for (const std::uint32_t peers : {1U, 31U, 32U, 33U, 1000U}) {
    CAPTURE(peers);
    PeerTable<std::uint64_t> table(peers);
    std::map<std::uint32_t, std::uint64_t> written;
    std::mt19937_64 random(peers);
    CHECK(table.size() == peers);
    for (int step = 0; step < 200; ++step) {
      const auto peer = static_cast<std::uint32_t>(random() % peers);
      if (random() % 4 == 0) table[peer] = written[peer] = random();
      const auto other = static_cast<std::uint32_t>(random() % peers);
      const auto found = written.find(other);
      CHECK(table.at(other) == (found == written.end() ? 0 : found->second));
    }
    std::uint64_t sum = 0;
    table.for_each([&](std::uint32_t peer, std::uint64_t each) {
      CHECK(table.at(peer) == each);
      sum += each;
    });
    std::uint64_t expected = 0;
    for (const auto& [peer, each] : written) expected += each;
    CHECK(sum == expected);
  }
}

TEST_CASE("peer table: addresses do not change") {
  PeerTable<int> table(100);
  int& first = table[0];
  first = 7;
  for (std::uint32_t peer = 0; peer < 100; ++peer) table[peer] += 1;
  CHECK(first == 8);
  CHECK(&table.at(0) == &first);
}

}  // namespace margay::sim
