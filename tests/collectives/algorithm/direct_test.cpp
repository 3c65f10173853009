// Tests of block transfers: scatters along the tree, and direct messages to and from all of a rank's peers.
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

using BlockBytes = std::vector<std::byte>;

// The data that rank `from` sends to rank `to`.
BlockBytes sent_block(int from, int to, std::uint64_t bytes) {
  BlockBytes block(bytes);
  for (std::size_t i = 0; i < block.size(); ++i) {
    block[i] = static_cast<std::byte>(static_cast<std::size_t>(from) * 37 + static_cast<std::size_t>(to) * 11 + i * 3);
  }
  return block;
}

portals::Region whole_region(BlockBytes& bytes) {
  return portals::Region(bytes.data(), bytes.size());
}

// The length of the block from one rank to another, the same on both.
std::uint64_t length_of(int from, int to, std::uint64_t seed) {
  const std::uint64_t drawn = (static_cast<std::uint64_t>(from) * 31 + static_cast<std::uint64_t>(to) * 17 + seed) % 7;
  return drawn < 3 ? 0 : drawn < 6 ? drawn * 100 : kHandshakeBytes + drawn;
}

}  // namespace

TEST_CASE("a scatter along the tree gives each rank its block, from any root") {
  for (const int size : {1, 2, 3, 5, 8, 13}) {
    for (const std::uint64_t seed : testing::Seeds(4)) {
      for (int root = 0; root < size; ++root) {
        CAPTURE(size);
        CAPTURE(root);
        CAPTURE(seed);
        const std::uint64_t bytes = seed % 2 == 0 ? 24 : kHandshakeBytes - 1;
        CollectiveWorld world({.ranks = size, .seed = seed});
        CHECK(world.run([&](int rank) {
          BlockBytes all, mine(bytes);
          for (int to = 0; rank == root && to < size; ++to) {
            const BlockBytes block = sent_block(root, to, bytes);
            all.insert(all.end(), block.begin(), block.end());
          }
          const int error_class = world.call(rank, [&](Collective& collective) {
            return scatter_tree(collective, root, all.data(), bytes, whole_region(mine));
          });
          CHECK(error_class == MPI_SUCCESS);
          CHECK(mine == sent_block(root, rank, bytes));
        }));
      }
    }
  }
}

// More peers than messages in a turn, lengths of both protocols, and empty blocks.
TEST_CASE("every rank sends a block of its own length to every other rank") {
  for (const int size : {2, 3, 7, 16, 70}) {
    for (const std::uint64_t seed : testing::Seeds(size > 20 ? 1 : 10)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world({.ranks = size, .seed = seed});
      CHECK(world.run([&](int rank) {
        std::vector<BlockBytes> sent, received;
        std::vector<PeerMessage> out, in;
        for (int step = 1; step < size; ++step) {
          const int to = (rank + step) % size;
          const int from = (rank - step + size) % size;
          sent.push_back(sent_block(rank, to, length_of(rank, to, seed)));
          received.emplace_back(length_of(from, rank, seed));
          out.push_back({to, whole_region(sent.back())});
          in.push_back({from, whole_region(received.back())});
        }
        const int error_class =
            world.call(rank, [&](Collective& collective) { return exchange_directly(collective, out, in); });
        CHECK(error_class == MPI_SUCCESS);
        for (int step = 1; step < size; ++step) {
          const int from = (rank - step + size) % size;
          CHECK(received[static_cast<std::size_t>(step - 1)] == sent_block(from, rank, length_of(from, rank, seed)));
        }
      }));
    }
  }
}

TEST_CASE("blocks whose lengths differ between sender and receiver end both calls") {
  for (const std::uint64_t seed : testing::Seeds(60)) {
    CAPTURE(seed);
    constexpr int kSize = 4;
    const std::uint64_t lengths[] = {8, 300, kHandshakeBytes + 1};
    const std::uint64_t sent_bytes = lengths[seed % 3];
    const std::uint64_t named_bytes = lengths[(seed + 1 + seed / 3 % 2) % 3];
    CollectiveWorld world({.ranks = kSize, .seed = seed});
    int truncated = 0;
    CHECK(world.run([&](int rank) {
      BlockBytes mine = sent_block(rank, 0, rank == 2 ? sent_bytes : 8);
      std::vector<BlockBytes> received;
      std::vector<PeerMessage> out, in;
      for (int from = 1; rank == 0 && from < kSize; ++from) received.emplace_back(from == 2 ? named_bytes : 8);
      for (int from = 1; rank == 0 && from < kSize; ++from) {
        in.push_back({from, whole_region(received[static_cast<std::size_t>(from - 1)])});
      }
      if (rank != 0) out.push_back({0, whole_region(mine)});
      const int error_class =
          world.call(rank, [&](Collective& collective) { return exchange_directly(collective, out, in); });
      CHECK((error_class == MPI_SUCCESS || error_class == MPI_ERR_TRUNCATE));
      if (error_class == MPI_ERR_TRUNCATE) ++truncated;
    }));
    CHECK(truncated > 0);
  }
}

// If the turns were strict, the three would deadlock: each waits in its first turn for a message of the next one's
// second turn.
TEST_CASE("exchange: ranks with more neighbors than messages in a turn do not wait for each other") {
  constexpr int kLow = static_cast<int>(kDirectAtOnce);
  CollectiveWorld world({.ranks = kLow + 3});
  CHECK(world.run([&](int rank) {
    std::vector<PeerMessage> out, in;
    BlockBytes sent(8), got(8 * 3);
    const auto from = [&](int peer) { in.push_back({peer, whole_region(got).slice(in.size() * 8, 8)}); };
    if (rank < kLow) {
      for (int peer = kLow; peer < kLow + 3; ++peer) from(peer);
    } else {
      for (int peer = 0; peer < kLow; ++peer) out.push_back({peer, whole_region(sent)});
      out.push_back({kLow + (rank - kLow + 1) % 3, whole_region(sent)});
      from(kLow + (rank - kLow + 2) % 3);
    }
    const int error_class =
        world.call(rank, [&](Collective& collective) { return exchange_directly(collective, out, in, kAllAtOnce); });
    CHECK(error_class == MPI_SUCCESS);
  }));
}

}  // namespace margay::collectives
