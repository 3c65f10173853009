// Tests of the exchange through postings in the node's memory: blocks of all lengths, contiguous or in pieces; short
// ones are in the postings, long ones are read in place. Results, mismatching lengths, lost ranks.
#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/post.hpp"
#include "collectives/select/facts.hpp"
#include "collectives/select/perform.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

using Bytes = std::vector<std::byte>;

CollectiveWorld::Options reading(int ranks, std::uint64_t seed) {
  return {.ranks = ranks, .seed = seed, .crowded = seed % 2 == 0, .shares_memory = true, .reads = true};
}

Team& team_of(CollectiveWorld& world, int rank) {
  const StandingFacts& standing = facts_of(world.portal(rank).host(), world.communicator(rank)).of_blocking();
  REQUIRE(standing.facts.reads);
  return *standing.team;
}

// The data that a rank sends to another one in a step.
Bytes block_of(std::uint64_t step, int from, int to, std::size_t bytes) {
  std::mt19937_64 random(step * 10'007 + static_cast<std::uint64_t>(from) * 101 + static_cast<std::uint64_t>(to));
  Bytes block(bytes);
  for (std::byte& byte : block) byte = static_cast<std::byte>(random());
  return block;
}

// Lengths of 0, up to the table's posting, up to the long posting, and above; together too many for the postings' room.
std::size_t length_of(std::uint64_t step, int from, int to) {
  constexpr std::size_t kLengths[] = {0, 0, 1, 8, 100, 900, 5000, 16384, 16385, 70'000, 200'001};
  return kLengths[(step * 31 + static_cast<std::uint64_t>(from) * 7 + static_cast<std::uint64_t>(to) * 3) %
                  std::size(kLengths)];
}

// Memory for a block, in pieces of `piece` bytes with gaps of the same length; 0: in one piece.
class Laid {
 public:
  Laid(std::size_t bytes, std::size_t piece) : memory_(2 * bytes + 1) {
    const std::size_t most = piece == 0 ? bytes : piece;
    for (std::size_t done = 0, at = 0; done < bytes;) {
      const std::size_t next = std::min(most, bytes - done);
      pieces_.push_back({memory_.data() + at, next});
      done += next;
      at += 2 * next;
    }
  }
  [[nodiscard]] portals::Region region() const { return portals::Region(std::span<const portals::Buffer>(pieces_)); }

 private:
  Bytes memory_;
  std::vector<portals::Buffer> pieces_;
};

struct Side {
  std::deque<Laid> laid;
  std::vector<PeerMessage> messages;
  portals::Region add(int peer, std::size_t bytes, std::size_t piece) {
    messages.push_back({peer, laid.emplace_back(bytes, piece).region()});
    return messages.back().data;
  }
};

int exchange_once(CollectiveWorld& world, int rank, std::uint64_t step, std::mt19937_64& random, int names_less = -1) {
  constexpr std::size_t kPieces[] = {0, 0, 7, 1000, 40'000};
  const auto piece = [&] { return kPieces[random() % std::size(kPieces)]; };
  Side out, in;
  std::vector<Bytes> expected;
  for (int peer = 0; peer < world.size(); ++peer) {
    if (peer == rank) continue;
    const std::size_t sent = length_of(step, rank, peer);
    Bytes block = block_of(step, rank, peer, sent);
    portals::copy(out.add(peer, sent, piece()), portals::Region(block.data(), sent));
    std::size_t gets = length_of(step, peer, rank);
    if (rank == names_less && gets > 0) --gets;
    expected.push_back(block_of(step, peer, rank, gets));
    in.add(peer, gets, piece());
  }
  std::shuffle(out.messages.begin(), out.messages.end(), random);
  Collective collective(world.portal(rank), world.communicator(rank));
  Team& team = team_of(world, rank);
  mpi_adi::run(exchange_posted(collective, team, out.messages, in.messages));
  team.publish_done(world.communicator(rank).collective_sequence, collective.error_class() == MPIX_ERR_PROC_FAILED);
  // The rank may change its blocks again.
  for (const PeerMessage& message : out.messages) {
    Bytes other(message.data.bytes(), std::byte{0xee});
    portals::copy(message.data, portals::Region(other.data(), other.size()));
  }
  for (std::size_t at = 0; collective.error_class() == MPI_SUCCESS && at < expected.size(); ++at) {
    Bytes got(expected[at].size());
    portals::copy(portals::Region(got.data(), got.size()), in.messages[at].data);
    CHECK(got == expected[at]);
  }
  return collective.error_class();
}

}  // namespace

TEST_CASE("exchange posted: each block has its contents at the start of the call, whichever rank is ahead") {
  for (const int size : {2, 3, 5, 8}) {
    for (const std::uint64_t seed : testing::Seeds(testing::kSanitized ? 1 : 4)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world(reading(size, seed));
      CHECK(world.run([&](int rank) {
        std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(rank));
        for (std::uint64_t step = 0; step < sim::kPostings + 10; ++step) {
          CHECK(exchange_once(world, rank, step, random) == MPI_SUCCESS);
        }
      }));
      for (int rank = 0; rank < size; ++rank) CHECK(world.portal(rank).sent().messages == 0);
    }
  }
}

TEST_CASE("exchange posted: a rank with other lengths gets an error, the others get their blocks, and none waits") {
  // A rank that expects no block does not look for one.
  for (const std::uint64_t seed : testing::Seeds(40)) {
    CAPTURE(seed);
    const int size = 2 + static_cast<int>(seed % 5);
    const int one = static_cast<int>(seed / 5 % static_cast<std::uint64_t>(size));
    bool some = false;
    for (int peer = 0; peer < size; ++peer) some = some || (peer != one && length_of(seed, peer, one) > 1);
    CollectiveWorld world(reading(size, seed));
    CHECK(world.run([&](int rank) {
      std::mt19937_64 random(seed + static_cast<std::uint64_t>(rank));
      const int error_class = exchange_once(world, rank, seed, random, one);
      CHECK(error_class == (rank == one && some ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
      CHECK(exchange_once(world, rank, seed + 1, random) == MPI_SUCCESS);
    }));
  }
}

TEST_CASE("exchange posted: a rank with a block for a lost rank, or from one, gets an error") {
  for (const std::uint64_t seed : testing::Seeds(30)) {
    CAPTURE(seed);
    const int size = 3 + static_cast<int>(seed % 5);
    const int absent = static_cast<int>(seed * 7 % static_cast<std::uint64_t>(size));
    CollectiveWorld world(reading(size, seed));
    CHECK(world.run(
        [&](int rank) {
          std::mt19937_64 random(seed + static_cast<std::uint64_t>(rank));
          const int error_class = exchange_once(world, rank, seed, random);
          const bool waits = length_of(seed, absent, rank) > 0 || length_of(seed, rank, absent) > 16384;
          if (waits) CHECK(error_class == MPIX_ERR_PROC_FAILED);
        },
        absent));
  }
}

// The blocks are read in place, so their owners wait for readers, while one member makes another call.
TEST_CASE("exchange posted: a member that makes another call, or names no block, is an error, and no member hangs") {
  constexpr std::size_t kBytes = 100'000;
  for (int other = 0; other < 7; ++other) {
    for (const std::uint64_t seed : testing::Seeds(12)) {
      CAPTURE(other);
      CAPTURE(seed);
      const int size = 2 + static_cast<int>(seed % 4);
      const int odd = static_cast<int>(seed / 4 % static_cast<std::uint64_t>(size));
      CollectiveWorld world(reading(size, seed));
      int failed = 0;
      CHECK(world.run([&](int rank) {
        Bytes block(kBytes), all(kBytes * static_cast<std::size_t>(size));
        const portals::Region mine(block.data(), rank == odd && other == 6 ? 0 : kBytes);
        TreePortal& portal = world.portal(rank);
        mpi_adi::Communicator& members = world.communicator(rank);
        int error_class = MPI_SUCCESS;
        if (rank != odd || other == 6) {
          const GatherCall gather{0, mine, mine.bytes(), all.data()};
          const ScatterCall scatter{0, mine, mine.bytes(),
                                    portals::Region(all.data(), mine.bytes() * static_cast<std::uint64_t>(size))};
          error_class = seed % 2 == 0 ? perform(portal, members, gather) : perform(portal, members, scatter);
        } else if (other == 0) {
          error_class = perform(portal, members, BarrierCall{});
        } else if (other == 1) {
          error_class = perform(portal, members, BcastCall{0, portals::Region(all.data(), 8)});
        } else if (other == 2) {
          error_class = perform(
              portal, members, AllgatherCall{portals::Region(all.data() + std::ptrdiff_t{rank} * 8, 8), 8, all.data()});
        } else if (other == 3) {
          error_class = perform(portal, members, GatherCall{0, portals::Region(block.data(), 8), 8, all.data()});
        } else if (other == 4) {
          const portals::Region everybodys(all.data(), 8 * static_cast<std::uint64_t>(size));
          error_class = perform(portal, members, ScatterCall{0, portals::Region(block.data(), 8), 8, everybodys});
        } else {
          Collective collective(portal, members);
          Team& team = team_of(world, rank);
          mpi_adi::run(exchange_posted(collective, team, {}, {}));
          error_class = collective.error_class();
          team.publish_done(members.collective_sequence, false);
        }
        CHECK((error_class == MPI_SUCCESS || error_class == MPI_ERR_TRUNCATE));
        if (error_class != MPI_SUCCESS) ++failed;
      }));
      if (other != 5) CHECK(failed > 0);  // a rank that neither shows nor reads may go unnoticed
    }
  }
}

// Rank 0 sends a long block to rank 2, and expects one from rank 1, which sends none.
TEST_CASE("exchange posted: a read from a rank that left the call does not return later data as a success") {
  for (const std::uint64_t seed : testing::Seeds(60)) {
    CAPTURE(seed);
    CollectiveWorld world(reading(3, seed));
    CHECK(world.run([&](int rank) {
      TreePortal& portal = world.portal(rank);
      mpi_adi::Communicator& members = world.communicator(rank);
      if (rank == 1) {
        CHECK(perform(portal, members, BarrierCall{}) == MPI_ERR_TRUNCATE);
        return;
      }
      Bytes block(rank == 0 ? 100'000 : 0, std::byte{'G'}), got(rank == 0 ? 8 : 100'000);
      std::vector<PeerMessage> out, in;
      (rank == 0 ? out : in)
          .push_back({2 - rank, rank == 0 ? portals::Region(block.data(), block.size())
                                          : portals::Region(got.data(), got.size())});
      if (rank == 0) in.push_back({1, portals::Region(got.data(), got.size())});
      Collective collective(portal, members);
      Team& team = team_of(world, rank);
      mpi_adi::run(exchange_posted(collective, team, out, in));
      team.publish_done(members.collective_sequence, false);
      std::ranges::fill(block, std::byte{'X'});
      if (rank == 0) CHECK(collective.error_class() == MPI_ERR_TRUNCATE);
      const bool right = std::ranges::all_of(got, [](std::byte byte) { return byte == std::byte{'G'}; });
      if (rank == 2) CHECK((collective.error_class() == MPI_ERR_TRUNCATE || right));
    }));
  }
}

}  // namespace margay::collectives
